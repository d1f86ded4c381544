// Clustering: pairs -> connected components, by union-find.
#include "kernels.hpp"

#include <algorithm>
#include <numeric>

namespace lookalike {

std::vector<int32_t> components(size_t n, Items left, Items right) {
    std::vector<int32_t> parent(n);
    std::iota(parent.begin(), parent.end(), 0);
    auto root = [&](int32_t item) {
        while (parent[static_cast<size_t>(item)] != item) {
            int32_t& up = parent[static_cast<size_t>(item)];
            up = parent[static_cast<size_t>(up)]; // halve the path on the way
            item = up;
        }
        return item;
    };
    for (size_t pair = 0; pair < left.size; ++pair) {
        const int32_t a = root(left[pair]), b = root(right[pair]);
        parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b); // the smallest is the root
    }
    for (size_t item = 0; item < n; ++item) {
        parent[item] = root(static_cast<int32_t>(item));
    }
    return parent;
}

} // namespace lookalike
