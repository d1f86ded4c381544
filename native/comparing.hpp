// Comparing two sorted sets with the threshold p/q, in integers.
//
// J(A, B) >= p/q means |A∩B| * (p + q) >= p * (|A| + |B|).
#pragma once

#include "hashing.hpp"
#include "kernels.hpp"

namespace lookalike {

struct Threshold {
    int64_t numerator, denominator;

    // The least |A∩B| that suffices when |A| + |B| is `sizes`.
    int64_t least_overlap(int64_t sizes) const { return divide_up(sizes, numerator + denominator); }
    // The least |A∩B| that suffices for a set of `size` with any partner at all ...
    int64_t least_with_any(int64_t size) const { return divide_up(size, denominator); }
    // ... and with any partner that is not smaller.
    int64_t least_with_larger(int64_t size) const { return least_overlap(2 * size); }
    // Whether a set of `size` can reach the threshold with one of `smaller` elements.
    bool fits(int64_t smaller, int64_t size) const { return smaller >= least_with_any(size); }

private:
    int64_t divide_up(int64_t factor, int64_t divisor) const {
        const uint128 product = static_cast<uint128>(numerator) * static_cast<uint128>(factor);
        const uint128 by = static_cast<uint128>(divisor);
        return static_cast<int64_t>((product + by - 1) / by);
    }
};

// |A ∩ B|, or -1 as soon as it is certain to be below `least`.
inline int32_t overlap(Hashes a, Hashes b, int64_t least) {
    int64_t common = 0;
    // Elements of each side that may still be without a partner.
    int64_t spare_a = static_cast<int64_t>(a.size) - least;
    int64_t spare_b = static_cast<int64_t>(b.size) - least;
    if (spare_a < 0 || spare_b < 0) {
        return -1;
    }
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

// Canonical sets, and how to compare two of them.
struct Comparison {
    Hashes hashes;
    Starts starts;
    Items sizes;
    Threshold threshold;

    Hashes elements(int32_t item) const {
        const size_t i = static_cast<size_t>(item);
        return {hashes.data + starts[i], static_cast<size_t>(sizes[i])};
    }
    int64_t size(int32_t item) const { return sizes[static_cast<size_t>(item)]; }

    // The overlap of two items, or -1 if they do not reach the threshold.
    int32_t operator()(int32_t one, int32_t other) const {
        return overlap(elements(one), elements(other),
                       threshold.least_overlap(size(one) + size(other)));
    }
};

// Whether two items stand on opposite sides; each is on the left (1), on the right (2) or both.
inline bool opposite(uint8_t one, uint8_t other) {
    return ((one & 1) && (other & 2)) || ((one & 2) && (other & 1));
}

} // namespace lookalike
