// Collapsing: sets -> which items are exact copies of each other.
#include "buckets.hpp"
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 64;

struct Copy {
    int32_t item, first;
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
    Buckets buckets(prints, part);
    std::vector<Array<Copy>> found(buckets.partitions());
    auto elements = [&](int32_t item) { return elements_of(hashes, starts, item); };
    buckets.each(threads, [&](size_t partition, Bucket bucket) {
        // An item belongs to the earliest first copy of its bucket that it equals.
        Array<int32_t> firsts;
        for (const int32_t item : bucket) {
            const Hashes its = elements(item);
            if (its.size == 0) {
                continue;
            }
            const auto first = std::find_if(firsts.begin(), firsts.end(), [&](int32_t other) {
                return equal(elements(other), its);
            });
            if (first == firsts.end()) {
                firsts.push_back(item);
            } else {
                found[partition].push_back({item, *first});
            }
        }
    });
    Array<Copy> copies;
    for (const Array<Copy>& each : found) {
        copies.insert(copies.end(), each.begin(), each.end());
    }
    std::sort(copies.begin(), copies.end(),
              [](const Copy& a, const Copy& b) { return a.item < b.item; });
    Copies result;
    result.copies.reserve(copies.size());
    result.firsts.reserve(copies.size());
    for (const Copy& each : copies) {
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
