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

Gathered gather(Hashes hashes, Starts starts, Items sizes, Items items, unsigned threads) {
    Gathered result;
    result.sizes.resize(items.size);
    result.sets.starts.resize(items.size + 1);
    result.sets.starts[0] = 0;
    for (size_t i = 0; i < items.size; ++i) {
        result.sizes[i] = sizes[static_cast<size_t>(items[i])];
        result.sets.starts[i + 1] = result.sets.starts[i] + result.sizes[i];
    }
    result.sets.values.resize(static_cast<size_t>(result.sets.starts.back()));
    parallel(items.size, items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            std::copy_n(hashes.data + starts[static_cast<size_t>(items[i])], result.sizes[i],
                        result.sets.values.data() + result.sets.starts[i]);
        }
    });
    return result;
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
