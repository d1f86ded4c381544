// Verifying: candidate pairs -> exact overlaps, by merging sorted sets.
#include "comparing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 64;
constexpr size_t pairs_per_part = 256;

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
    const Comparison compare{hashes, starts, sizes, {numerator, denominator}};
    parallel(left.size, pairs_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t pair = begin; pair < end; ++pair) {
            overlaps[pair] = compare(left[pair], right[pair]);
        }
    });
}

} // namespace lookalike
