// Union-find: which items are connected. The root of a component is its smallest item.
//
// It works in an array of its owner: the parent of each item, itself or a smaller one.
#pragma once

#include "kernels.hpp"

#include <algorithm>

namespace lookalike {

class Components {
public:
    explicit Components(Span<int32_t> parent) : parent_(parent) {}

    int32_t root(int32_t item) {
        while (parent_[static_cast<size_t>(item)] != item) {
            int32_t& up = parent_[static_cast<size_t>(item)];
            up = parent_[static_cast<size_t>(up)]; // halve the path on the way
            item = up;
        }
        return item;
    }
    bool joined(int32_t one, int32_t other) { return root(one) == root(other); }
    void join(int32_t one, int32_t other) {
        const int32_t a = root(one), b = root(other);
        parent_[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }

private:
    Span<int32_t> parent_;
};

} // namespace lookalike
