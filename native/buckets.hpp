// Buckets: the items that have the same key, of any keys that are well mixed.
//
// Keys are sorted as packed words (high bits of the key, low bits the item), in partitions by the
// top bits of the key: scattering the items once makes every partition small enough for the cache,
// and partitions are independent of each other.
#pragma once

#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <numeric>

namespace lookalike {

using Bucket = Span<const int32_t>;

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

class Buckets {
public:
    // Packs the items with a key in the part: 8 bytes for each of them.
    Buckets(Hashes keys, Part part)
        : keys_(keys), item_mask_((uint64_t{1} << bits_for(keys.size)) - 1) {
        const size_t expected = keys.size / part.parts;
        const unsigned bits = std::min(bits_for(expected / partition_items), most_partition_bits);
        auto home = [&](uint64_t key) { return top_bits(part.place(key), bits); };
        bounds_.assign((size_t{1} << bits) + 1, 0);
        for (const uint64_t key : keys) {
            if (part.has(key)) {
                ++bounds_[home(key) + 1];
            }
        }
        std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
        packed_.resize(bounds_.back());
        std::vector<size_t> next(bounds_.begin(), bounds_.end() - 1);
        for (size_t item = 0; item < keys.size; ++item) {
            if (part.has(keys[item])) {
                packed_[next[home(keys[item])]++] = (keys[item] & ~item_mask_) | item;
            }
        }
    }

    size_t partitions() const { return bounds_.size() - 1; }

    // Calls visit(partition, bucket) for the items, ascending, of every key that two or more have.
    // Partitions are visited by several threads, each by one.
    template <class Visit> void each(unsigned threads, Visit&& visit) {
        parallel_workers(partitions(), 1, threads, [&] {
            return [&, members = Array<int32_t>()](size_t begin, size_t end) mutable {
                for (size_t p = begin; p < end; ++p) {
                    each_of(p, members, [&](Bucket bucket) { visit(p, bucket); });
                }
            };
        });
        sorted_ = true;
    }

private:
    static constexpr size_t partition_items = 1024;
    static constexpr unsigned most_partition_bits = 14;

    template <class Visit> void each_of(size_t p, Array<int32_t>& members, Visit&& visit) {
        uint64_t* const first = packed_.data() + bounds_[p];
        uint64_t* const last = packed_.data() + bounds_[p + 1];
        if (!sorted_) {
            std::sort(first, last);
        }
        for (uint64_t *run = first, *end; run < last; run = end) {
            end = run + 1;
            while (end < last && ((*run ^ *end) & ~item_mask_) == 0) {
                ++end;
            }
            if (end - run < 2) {
                continue;
            }
            members.clear();
            for (const uint64_t* at = run; at < end; ++at) {
                members.push_back(static_cast<int32_t>(*at & item_mask_));
            }
            // Equal high bits are only a hint: the whole keys decide.
            auto key = [&](int32_t item) { return keys_[static_cast<size_t>(item)]; };
            auto by_key = [&](int32_t a, int32_t b) { return key(a) < key(b); };
            if (!std::is_sorted(members.begin(), members.end(), by_key)) {
                std::stable_sort(members.begin(), members.end(), by_key);
            }
            for (auto begin = members.begin(); begin < members.end();) {
                const auto after = std::find_if(
                    begin, members.end(), [&](int32_t item) { return key(item) != key(*begin); });
                if (after - begin > 1) {
                    visit(Bucket{&*begin, static_cast<size_t>(after - begin)});
                }
                begin = after;
            }
        }
    }

    Hashes keys_;
    uint64_t item_mask_;
    bool sorted_ = false;
    Array<uint64_t> packed_; // partition p is packed_[bounds_[p] .. bounds_[p + 1])
    std::vector<size_t> bounds_;
};

} // namespace lookalike
