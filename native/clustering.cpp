// Clustering: pairs -> connected components.
#include "components.hpp"
#include "kernels.hpp"

namespace lookalike {

void components(Span<int32_t> labels, Items left, Items right) {
    Components connected(labels);
    for (size_t pair = 0; pair < left.size; ++pair) {
        connected.join(left[pair], right[pair]);
    }
    // Whatever an item points to is smaller and has its label already.
    for (int32_t& label : labels) {
        label = labels[static_cast<size_t>(label)];
    }
}

} // namespace lookalike
