// Collapsing: sets -> which items are exact copies of each other.
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <utility>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 64;

Hashes elements_of(Hashes hashes, Starts starts, size_t item) {
    return {hashes.data + starts[item], static_cast<size_t>(starts[item + 1] - starts[item])};
}

bool equal(Hashes a, Hashes b) {
    return a.size == b.size && std::equal(a.begin(), a.end(), b.begin());
}

} // namespace

std::vector<uint64_t> fingerprint(Hashes hashes, Starts starts, unsigned threads) {
    std::vector<uint64_t> result(starts.size - 1);
    parallel(result.size(), items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            uint64_t state = static_cast<uint64_t>(starts[i + 1] - starts[i]) * C0;
            for (int64_t at = starts[i]; at < starts[i + 1]; ++at) {
                state = mix(state ^ hashes[static_cast<size_t>(at)], C1);
            }
            result[i] = state;
        }
    });
    return result;
}

std::vector<int32_t> first_copies(Hashes hashes, Starts starts, Hashes prints, unsigned threads) {
    const size_t items = starts.size - 1;
    std::vector<std::pair<uint64_t, int32_t>> order;
    order.reserve(items);
    for (size_t item = 0; item < items; ++item) {
        if (starts[item] < starts[item + 1]) {
            order.emplace_back(prints[item], static_cast<int32_t>(item));
        }
    }
    std::sort(order.begin(), order.end());
    std::vector<int32_t> firsts(items, -1);
    // An item belongs to the earliest first copy of its run that it equals. Runs are found by
    // looking back, so that a run of a million copies is still shared out between threads.
    parallel(order.size(), items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t at = begin; at < end; ++at) {
            const auto run = std::lower_bound(order.begin(), order.begin() + at + 1,
                                              std::make_pair(order[at].first, int32_t{-1}));
            const size_t item = static_cast<size_t>(order[at].second);
            for (auto other = run;; ++other) {
                const size_t earlier = static_cast<size_t>(other->second);
                if (earlier == item || equal(elements_of(hashes, starts, earlier),
                                             elements_of(hashes, starts, item))) {
                    firsts[item] = other->second;
                    break;
                }
            }
        }
    });
    return firsts;
}

} // namespace lookalike
