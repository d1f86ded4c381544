// Sorting by key in partitions: what is scattered once by the top bits of its key lies in pieces
// that are small enough for the cache, and are independent of each other.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace lookalike {

inline size_t top_bits(uint64_t key, unsigned bits) {
    return bits == 0 ? 0 : static_cast<size_t>(key >> (64 - bits));
}

inline unsigned bits_for(size_t values) {
    unsigned bits = 0;
    while ((size_t{1} << bits) < values) {
        ++bits;
    }
    return bits;
}

// Partition p is values[bounds[p] .. bounds[p + 1]), not sorted yet; keys ascend with p.
template <class T> struct Partitioned {
    Array<T> values;
    std::vector<size_t> bounds;

    size_t count() const { return bounds.size() - 1; }
    T* begin(size_t p) { return values.data() + bounds[p]; }
    T* end(size_t p) { return values.data() + bounds[p + 1]; }
};

// Takes make(item) for every item for which takes(item) is true, about `expected` of them; all
// their keys have to be in the part.
template <class T, class Takes, class Make>
Partitioned<T> partition(Hashes keys, Part part, size_t expected, Takes&& takes, Make&& make) {
    constexpr size_t partition_items = 1024;
    constexpr unsigned most_bits = 14;
    const unsigned bits = std::min(bits_for(expected / partition_items), most_bits);
    auto home = [&](size_t item) { return top_bits(part.place(keys[item]), bits); };
    std::vector<size_t> bounds((size_t{1} << bits) + 1, 0);
    for (size_t item = 0; item < keys.size; ++item) {
        if (takes(item)) {
            ++bounds[home(item) + 1];
        }
    }
    std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
    Array<T> values(bounds.back());
    std::vector<size_t> next(bounds.begin(), bounds.end() - 1);
    for (size_t item = 0; item < keys.size; ++item) {
        if (takes(item)) {
            values[next[home(item)]++] = make(item);
        }
    }
    return {std::move(values), std::move(bounds)};
}

} // namespace lookalike
