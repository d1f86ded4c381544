// Banding: signatures -> band keys -> candidate pairs.
//
// A band is sorted as packed words (high bits of the key, low bits the item), in partitions by the
// top bits of the key: scattering the items once makes every partition small enough for the cache,
// and partitions are independent of each other.
#include "comparing.hpp"
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 256;
constexpr size_t partition_items = 1024;
constexpr unsigned most_partition_bits = 14;

unsigned bits_for(size_t values) {
    unsigned bits = 0;
    while ((size_t{1} << bits) < values) {
        ++bits;
    }
    return bits;
}

// Partition p is packed[bounds[p] .. bounds[p + 1]), not sorted yet.
struct Partitioned {
    std::vector<uint64_t> packed;
    std::vector<size_t> bounds;
};

Partitioned partition(Hashes keys, uint64_t item_mask) {
    const unsigned bits = std::min(bits_for(keys.size / partition_items), most_partition_bits);
    auto home = [&](uint64_t key) {
        return bits == 0 ? 0 : static_cast<size_t>(key >> (64 - bits));
    };
    Partitioned result{std::vector<uint64_t>(keys.size),
                       std::vector<size_t>((size_t{1} << bits) + 1, 0)};
    for (const uint64_t key : keys) {
        ++result.bounds[home(key) + 1];
    }
    for (size_t p = 1; p < result.bounds.size(); ++p) {
        result.bounds[p] += result.bounds[p - 1];
    }
    std::vector<size_t> next(result.bounds.begin(), result.bounds.end() - 1);
    for (size_t item = 0; item < keys.size; ++item) {
        result.packed[next[home(keys[item])]++] = (keys[item] & ~item_mask) | item;
    }
    return result;
}

using Bucket = Span<const int32_t>;

// Sorts a partition and calls visit(bucket) for the items of every key that two or more have.
template <class Visit>
void each_bucket(uint64_t* first, uint64_t* last, Hashes keys, uint64_t item_mask,
                 std::vector<int32_t>& members, Visit&& visit) {
    std::sort(first, last);
    for (uint64_t *run = first, *end; run < last; run = end) {
        end = run + 1;
        while (end < last && ((*run ^ *end) & ~item_mask) == 0) {
            ++end;
        }
        if (end - run < 2) {
            continue;
        }
        members.clear();
        for (const uint64_t* at = run; at < end; ++at) {
            members.push_back(static_cast<int32_t>(*at & item_mask));
        }
        // Equal high bits are only a hint: the whole keys decide.
        auto key = [&](int32_t item) { return keys[static_cast<size_t>(item)]; };
        std::stable_sort(members.begin(), members.end(),
                         [&](int32_t a, int32_t b) { return key(a) < key(b); });
        for (auto begin = members.begin(); begin < members.end();) {
            const auto after = std::find_if(begin, members.end(),
                                            [&](int32_t item) { return key(item) != key(*begin); });
            if (after - begin > 1) {
                visit(Bucket{&*begin, static_cast<size_t>(after - begin)});
            }
            begin = after;
        }
    }
}

// The keys of all bands, to ask of two items in which bands they agree.
struct Bands {
    Hashes keys;
    size_t items;

    Hashes band(size_t number) const { return {keys.data + number * items, items}; }

    // For two items of one bucket of that band: whether they share none of an earlier one.
    bool first_meet_in(size_t number, size_t one, size_t other) const {
        for (size_t earlier = 0; earlier < number; ++earlier) {
            if (band(earlier)[one] == band(earlier)[other]) {
                return false;
            }
        }
        return true;
    }
};

} // namespace

void band_keys(Hashes signatures, size_t items, size_t bands, size_t rows, Span<uint64_t> keys,
               unsigned threads) {
    const size_t slots = items == 0 ? 0 : signatures.size / items;
    parallel(items, items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t item = begin; item < end; ++item) {
            const uint64_t* value = signatures.data + item * slots;
            for (size_t band = 0; band < bands; ++band) {
                uint64_t key = (band + 1) * C0;
                for (size_t row = 0; row < rows; ++row) {
                    key = mix(key ^ *value++, C1);
                }
                keys[band * items + item] = key;
            }
        }
    });
}

Candidates candidates(Hashes keys, size_t items, size_t band, Bytes sides, size_t cap,
                      unsigned threads) {
    const Bands bands{keys, items};
    const Hashes its_keys = bands.band(band);
    const uint64_t item_mask = (uint64_t{1} << bits_for(items)) - 1;
    Partitioned parts = partition(its_keys, item_mask);
    const size_t count = parts.bounds.size() - 1;
    std::vector<Candidates> found(count);
    auto list_bucket = [&](Bucket bucket, Candidates& out) {
        if (bucket.size > cap) {
            out.crowd.insert(out.crowd.end(), bucket.begin(), bucket.end());
            return;
        }
        for (const int32_t* a = bucket.begin(); a < bucket.end(); ++a) {
            for (const int32_t* b = a + 1; b < bucket.end(); ++b) {
                const size_t i = static_cast<size_t>(*a), j = static_cast<size_t>(*b);
                if ((sides.size == 0 || opposite(sides[i], sides[j])) &&
                    bands.first_meet_in(band, i, j)) {
                    out.pairs.left.push_back(*a);
                    out.pairs.right.push_back(*b);
                }
            }
        }
    };
    parallel_workers(count, 1, threads, [&] {
        return [&, members = std::vector<int32_t>()](size_t begin, size_t end) mutable {
            for (size_t p = begin; p < end; ++p) {
                uint64_t* const first = parts.packed.data() + parts.bounds[p];
                uint64_t* const last = parts.packed.data() + parts.bounds[p + 1];
                each_bucket(first, last, its_keys, item_mask, members,
                            [&](Bucket bucket) { list_bucket(bucket, found[p]); });
            }
        };
    });
    Candidates result;
    for (const Candidates& each : found) {
        auto& [left, right] = result.pairs;
        left.insert(left.end(), each.pairs.left.begin(), each.pairs.left.end());
        right.insert(right.end(), each.pairs.right.begin(), each.pairs.right.end());
        result.crowd.insert(result.crowd.end(), each.crowd.begin(), each.crowd.end());
    }
    return result;
}

} // namespace lookalike
