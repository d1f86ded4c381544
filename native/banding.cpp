// Banding: signatures -> band keys -> candidate pairs.
#include "comparing.hpp"
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "partitioning.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 256;
constexpr size_t cells_per_cap = 2; // so that hardly a cell is above the cap by chance
constexpr size_t most_tables = 4;

// A band is sorted as packed words: high bits of the key, low bits the item.
using Packed = Partitioned<uint64_t>;

uint64_t mask_for(size_t items) {
    return (uint64_t{1} << bits_for(items)) - 1;
}

template <class Takes>
Packed pack(Hashes keys, Part part, size_t expected, uint64_t item_mask, Takes&& takes) {
    return partition<uint64_t>(keys, part, expected, takes,
                               [&](size_t item) { return (keys[item] & ~item_mask) | item; });
}

using Bucket = Span<const int32_t>;

// Sorts a partition and calls visit(bucket) for the items, ascending, of every key that two or more
// have.
template <class Visit>
void each_bucket(uint64_t* first, uint64_t* last, Hashes keys, uint64_t item_mask,
                 Array<int32_t>& members, Visit&& visit) {
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
        auto by_key = [&](int32_t a, int32_t b) { return key(a) < key(b); };
        if (!std::is_sorted(members.begin(), members.end(), by_key)) {
            std::stable_sort(members.begin(), members.end(), by_key);
        }
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

// Calls visit(bucket, p) for the buckets of all partitions p.
template <class Visit>
void each_bucket(Packed& parts, Hashes keys, uint64_t item_mask, unsigned threads, Visit&& visit) {
    parallel_workers(parts.count(), 1, threads, [&] {
        return [&, members = Array<int32_t>()](size_t begin, size_t end) mutable {
            for (size_t p = begin; p < end; ++p) {
                each_bucket(parts.begin(p), parts.end(p), keys, item_mask, members,
                            [&](Bucket bucket) { visit(bucket, p); });
            }
        };
    });
}

// How many keys have the same top bits, for keys of one band.
class Cells {
public:
    Cells(Hashes keys, unsigned bits, unsigned threads) : bits_(bits) {
        const size_t tables = std::min<size_t>(std::max(threads, 1u), most_tables);
        const size_t share = keys.size / tables + 1;
        std::vector<Array<uint32_t>> counts(tables, Array<uint32_t>(size_t{1} << bits, 0));
        parallel(keys.size, share, threads, [&](size_t begin, size_t end) {
            Array<uint32_t>& table = counts[begin / share];
            for (size_t item = begin; item < end; ++item) {
                ++table[top_bits(keys[item], bits)];
            }
        });
        counts_ = std::move(counts.front());
        for (size_t other = 1; other < tables; ++other) {
            std::transform(counts_.begin(), counts_.end(), counts[other].begin(), counts_.begin(),
                           std::plus<uint32_t>());
        }
    }
    size_t operator()(uint64_t key) const { return counts_[top_bits(key, bits_)]; }

    // The number of keys in cells above the cap.
    size_t above(size_t cap) const {
        return std::accumulate(
            counts_.begin(), counts_.end(), size_t{0},
            [&](size_t sum, uint32_t count) { return count > cap ? sum + count : sum; });
    }

private:
    unsigned bits_;
    Array<uint32_t> counts_;
};

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

Array<int32_t> crowd(Hashes keys, size_t cap, unsigned threads) {
    // A bucket is no larger than the cell it is in: where no cell is above the cap, all is done.
    const Cells cells(keys, bits_for(keys.size / (cap / cells_per_cap + 1)), threads);
    const size_t suspected = cells.above(cap);
    if (suspected == 0) {
        return {};
    }
    const uint64_t item_mask = mask_for(keys.size);
    Packed suspects = pack(keys, {0, 1}, suspected, item_mask,
                           [&](size_t item) { return cells(keys[item]) > cap; });
    Array<uint8_t> crowded(keys.size, 0);
    each_bucket(suspects, keys, item_mask, threads, [&](Bucket bucket, size_t) {
        if (bucket.size > cap) {
            for (const int32_t item : bucket) {
                crowded[static_cast<size_t>(item)] = 1;
            }
        }
    });
    Array<int32_t> items;
    items.reserve(static_cast<size_t>(std::count(crowded.begin(), crowded.end(), 1)));
    for (size_t item = 0; item < keys.size; ++item) {
        if (crowded[item]) {
            items.push_back(static_cast<int32_t>(item));
        }
    }
    return items;
}

Pairs candidates(Hashes keys, size_t items, size_t band, Bytes sides, Bytes crowded, size_t cap,
                 Part part, unsigned threads) {
    const Bands bands{keys, items};
    const Hashes its_keys = bands.band(band);
    const uint64_t item_mask = mask_for(items);
    Packed parts = pack(its_keys, part, items / part.parts, item_mask,
                        [&](size_t item) { return part.has(its_keys[item]); });
    auto asked_for = [&](size_t one, size_t other) {
        return (sides.size == 0 || opposite(sides[one], sides[other])) &&
               !(crowded.size != 0 && crowded[one] && crowded[other]) &&
               bands.first_meet_in(band, one, other);
    };
    Array<Pairs> found(parts.count());
    each_bucket(parts, its_keys, item_mask, threads, [&](Bucket bucket, size_t p) {
        if (bucket.size > cap) {
            return;
        }
        for (const int32_t* a = bucket.begin(); a < bucket.end(); ++a) {
            for (const int32_t* b = a + 1; b < bucket.end(); ++b) {
                if (asked_for(static_cast<size_t>(*a), static_cast<size_t>(*b))) {
                    found[p].left.push_back(*a);
                    found[p].right.push_back(*b);
                }
            }
        }
    });
    return {concatenate(found, &Pairs::left), concatenate(found, &Pairs::right)};
}

} // namespace lookalike
