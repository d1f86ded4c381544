// Collapsing: sets -> which items are exact copies of each other.
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "partitioning.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 64;

struct Printed {
    uint64_t print;
    int32_t item;
    int32_t first; // its first copy
    bool operator<(const Printed& other) const {
        return print != other.print ? print < other.print : item < other.item;
    }
};

Hashes elements_of(Hashes hashes, Starts starts, int32_t item) {
    const size_t i = static_cast<size_t>(item);
    return {hashes.data + starts[i], static_cast<size_t>(starts[i + 1] - starts[i])};
}

bool equal(Hashes a, Hashes b) {
    return a.size == b.size && (a.data == b.data || std::equal(a.begin(), a.end(), b.begin()));
}

} // namespace

Array<uint64_t> fingerprint(Hashes hashes, Starts starts, unsigned threads) {
    Array<uint64_t> result(starts.size - 1);
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

Copies first_copies(Hashes hashes, Starts starts, Hashes prints, Part part, unsigned threads) {
    const size_t items = starts.size - 1;
    auto sorted = partition<Printed>(
        prints, part, items / part.parts,
        [&](size_t item) { return starts[item] < starts[item + 1] && part.has(prints[item]); },
        [&](size_t item) { return Printed{prints[item], static_cast<int32_t>(item), -1}; });
    parallel(sorted.count(), 1, threads, [&](size_t begin, size_t end) {
        for (size_t p = begin; p < end; ++p) {
            std::sort(sorted.begin(p), sorted.end(p));
        }
    });
    Array<Printed>& order = sorted.values;
    // An item belongs to the earliest first copy of its run that it equals. Runs are found by
    // looking back, so that a run of a million copies is still shared out between threads.
    parallel(order.size(), items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t at = begin; at < end; ++at) {
            auto other = order.begin() + at;
            if (at > 0 && order[at - 1].print == order[at].print) {
                other = std::lower_bound(order.begin(), other, Printed{order[at].print, -1, -1});
            }
            while (!equal(elements_of(hashes, starts, other->item),
                          elements_of(hashes, starts, order[at].item))) {
                ++other;
            }
            order[at].first = other->item;
        }
    });
    const auto copies = std::remove_if(order.begin(), order.end(),
                                       [](const Printed& each) { return each.first == each.item; });
    order.erase(copies, order.end());
    std::sort(order.begin(), order.end(),
              [](const Printed& a, const Printed& b) { return a.item < b.item; });
    Copies result;
    result.copies.reserve(order.size());
    result.firsts.reserve(order.size());
    for (const Printed& each : order) {
        result.copies.push_back(each.item);
        result.firsts.push_back(each.first);
    }
    return result;
}

Members members(Items group_of, size_t groups) {
    // Two places more than groups: while items are put in their places, starts[g + 1] is where the
    // next item of g goes, and at last where the next group starts.
    Array<int64_t> starts(groups + 2, 0);
    for (const int32_t group : group_of) {
        if (group >= 0) {
            ++starts[static_cast<size_t>(group) + 2];
        }
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    Array<int32_t> order(static_cast<size_t>(starts.back()));
    for (size_t item = 0; item < group_of.size; ++item) {
        if (group_of[item] >= 0) {
            int64_t& place = starts[static_cast<size_t>(group_of[item]) + 1];
            order[static_cast<size_t>(place++)] = static_cast<int32_t>(item);
        }
    }
    starts.pop_back();
    return {std::move(order), std::move(starts)};
}

} // namespace lookalike
