// Choosing: items -> the order in which they are kept.
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace lookalike {
namespace {

constexpr unsigned digit_bits = 11;
constexpr size_t digits = size_t{1} << digit_bits;

} // namespace

// Counting sort by one digit of the ranks after the other, the lowest first: it takes one more
// array of items, and few passes where ranks are small.
Array<int32_t> order_by(Starts ranks) {
    Array<int32_t> order(ranks.size), sorted;
    std::iota(order.begin(), order.end(), 0);
    if (std::is_sorted(ranks.begin(), ranks.end())) {
        return order;
    }
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
    const uint64_t base = static_cast<uint64_t>(*least);
    const uint64_t range = static_cast<uint64_t>(*most) - base;
    sorted.resize(ranks.size);
    for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += digit_bits) {
        auto digit = [&](size_t item) {
            return ((static_cast<uint64_t>(ranks[item]) - base) >> shift) & (digits - 1);
        };
        std::array<size_t, digits + 1> next{};
        for (size_t item = 0; item < ranks.size; ++item) {
            ++next[digit(item) + 1];
        }
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (const int32_t item : order) {
            sorted[next[digit(static_cast<size_t>(item))]++] = item;
        }
        order.swap(sorted);
    }
    return order;
}

GroupOrder group_order(Items order, Items group_of, size_t groups) {
    GroupOrder result;
    result.groups.reserve(groups);
    result.leaders.assign(groups, -1);
    for (const int32_t item : order) {
        const int32_t group = group_of[static_cast<size_t>(item)];
        if (group >= 0 && result.leaders[static_cast<size_t>(group)] < 0) {
            result.leaders[static_cast<size_t>(group)] = item;
            result.groups.push_back(group);
        }
    }
    return result;
}

} // namespace lookalike
