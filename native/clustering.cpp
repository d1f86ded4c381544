// Clustering: pairs -> connected components.
#include "components.hpp"
#include "kernels.hpp"

namespace lookalike {

std::vector<int32_t> components(size_t n, Items left, Items right) {
    Components connected(n);
    for (size_t pair = 0; pair < left.size; ++pair) {
        connected.join(left[pair], right[pair]);
    }
    std::vector<int32_t> labels(n);
    for (size_t item = 0; item < n; ++item) {
        labels[item] = connected.root(static_cast<int32_t>(item));
    }
    return labels;
}

} // namespace lookalike
