// Verifying: candidate pairs -> exact overlaps.
//
// With A and B sorted, J(A, B) >= p/q means |A∩B| * (p + q) >= p * (|A| + |B|): one integer, the
// least overlap that suffices, is computed per pair, and a merge stops as soon as that many common
// elements cannot be reached any more.
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 64;
constexpr size_t pairs_per_part = 256;

int64_t least_overlap(int64_t sizes, int64_t numerator, int64_t denominator) {
    const uint128 sum = static_cast<uint128>(numerator) + static_cast<uint128>(denominator);
    const uint128 product = static_cast<uint128>(numerator) * static_cast<uint128>(sizes);
    return static_cast<int64_t>((product + sum - 1) / sum);
}

// |A ∩ B|, or -1 as soon as it is certain to be below `least`.
int32_t overlap(Hashes a, Hashes b, int64_t least) {
    int64_t common = 0;
    // Elements of each side that may still be without a partner.
    int64_t spare_a = static_cast<int64_t>(a.size) - least;
    int64_t spare_b = static_cast<int64_t>(b.size) - least;
    size_t i = 0, j = 0;
    while (i < a.size && j < b.size) {
        if (a[i] == b[j]) {
            ++common, ++i, ++j;
        } else if (a[i] < b[j]) {
            ++i;
            if (--spare_a < 0) {
                return -1;
            }
        } else {
            ++j;
            if (--spare_b < 0) {
                return -1;
            }
        }
    }
    return common >= least ? static_cast<int32_t>(common) : -1;
}

} // namespace

void canonicalise(Span<uint64_t> hashes, Starts starts, Span<int32_t> sizes, Items items,
                  unsigned threads) {
    parallel(items.size, items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const size_t item = static_cast<size_t>(items[i]);
            if (sizes[item] < 0) {
                uint64_t* const first = hashes.data + starts[item];
                uint64_t* const last = hashes.data + starts[item + 1];
                std::sort(first, last);
                sizes[item] = static_cast<int32_t>(std::unique(first, last) - first);
            }
        }
    });
}

void verify(Hashes hashes, Starts starts, Items sizes, Items left, Items right, int64_t numerator,
            int64_t denominator, Span<int32_t> overlaps, unsigned threads) {
    auto elements = [&](int32_t item) {
        const size_t i = static_cast<size_t>(item);
        return Hashes{hashes.data + starts[i], static_cast<size_t>(sizes[i])};
    };
    parallel(left.size, pairs_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t pair = begin; pair < end; ++pair) {
            const Hashes a = elements(left[pair]), b = elements(right[pair]);
            const int64_t least =
                least_overlap(static_cast<int64_t>(a.size + b.size), numerator, denominator);
            const bool possible = static_cast<int64_t>(std::min(a.size, b.size)) >= least;
            overlaps[pair] = possible ? overlap(a, b, least) : -1;
        }
    });
}

} // namespace lookalike
