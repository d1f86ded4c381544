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
#include <functional>
#include <numeric>
#include <utility>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 256;
constexpr size_t partition_items = 1024;
constexpr unsigned most_partition_bits = 14;
constexpr size_t cells_per_cap = 4; // so that hardly a cell is above the cap by chance
constexpr unsigned most_cell_bits = 22;
constexpr size_t most_tables = 4;

size_t top_bits(uint64_t key, unsigned bits) {
    return bits == 0 ? 0 : static_cast<size_t>(key >> (64 - bits));
}

unsigned bits_for(size_t values) {
    unsigned bits = 0;
    while ((size_t{1} << bits) < values) {
        ++bits;
    }
    return bits;
}

// Partition p is packed[bounds[p] .. bounds[p + 1]), not sorted yet.
struct Partitioned {
    Array<uint64_t> packed;
    std::vector<size_t> bounds;
};

Partitioned partition(Hashes keys, Part part, uint64_t item_mask) {
    const size_t expected = keys.size / part.parts;
    const unsigned bits = std::min(bits_for(expected / partition_items), most_partition_bits);
    auto home = [&](uint64_t key) { return top_bits(part.place(key), bits); };
    std::vector<size_t> bounds((size_t{1} << bits) + 1, 0);
    for (const uint64_t key : keys) {
        if (part.has(key)) {
            ++bounds[home(key) + 1];
        }
    }
    std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
    Array<uint64_t> packed(bounds.back());
    std::vector<size_t> next(bounds.begin(), bounds.end() - 1);
    for (size_t item = 0; item < keys.size; ++item) {
        if (part.has(keys[item])) {
            packed[next[home(keys[item])]++] = (keys[item] & ~item_mask) | item;
        }
    }
    return {std::move(packed), std::move(bounds)};
}

using Bucket = Span<const int32_t>;

// Sorts a partition and calls visit(bucket) for the items of every key that two or more have.
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

Array<int32_t> crowd(Hashes keys, size_t cap, unsigned threads) {
    // Keys are counted by some of their bits first: a bucket is no larger than its cell.
    const unsigned bits = std::min(bits_for(keys.size / (cap / cells_per_cap + 1)), most_cell_bits);
    auto cell = [&](uint64_t key) { return top_bits(key, bits); };
    const size_t tables = std::min<size_t>(std::max(threads, 1u), most_tables);
    const size_t share = keys.size / tables + 1;
    std::vector<Array<uint32_t>> counts(tables, Array<uint32_t>(size_t{1} << bits, 0));
    parallel(keys.size, share, threads, [&](size_t begin, size_t end) {
        Array<uint32_t>& table = counts[begin / share];
        for (size_t item = begin; item < end; ++item) {
            ++table[cell(keys[item])];
        }
    });
    Array<uint32_t>& total = counts.front();
    for (size_t other = 1; other < tables; ++other) {
        std::transform(total.begin(), total.end(), counts[other].begin(), total.begin(),
                       std::plus<uint32_t>());
    }
    size_t suspected = 0;
    for (const uint32_t count : total) {
        suspected += count > cap ? count : 0;
    }
    struct Suspect {
        uint64_t key;
        int32_t item;
    };
    Array<Suspect> suspects;
    suspects.reserve(suspected);
    for (size_t item = 0; item < keys.size && suspects.size() < suspected; ++item) {
        if (total[cell(keys[item])] > cap) {
            suspects.push_back({keys[item], static_cast<int32_t>(item)});
        }
    }
    std::sort(suspects.begin(), suspects.end(),
              [](const Suspect& a, const Suspect& b) { return a.key < b.key; });
    Array<int32_t> items;
    for (auto run = suspects.begin(); run < suspects.end();) {
        const auto end = std::find_if(run, suspects.end(),
                                      [&](const Suspect& each) { return each.key != run->key; });
        if (static_cast<size_t>(end - run) > cap) {
            std::for_each(run, end, [&](const Suspect& each) { items.push_back(each.item); });
        }
        run = end;
    }
    std::sort(items.begin(), items.end());
    return items;
}

Pairs candidates(Hashes keys, size_t items, size_t band, Bytes sides, Bytes crowded, size_t cap,
                 Part part, unsigned threads) {
    const Bands bands{keys, items};
    const Hashes its_keys = bands.band(band);
    const uint64_t item_mask = (uint64_t{1} << bits_for(items)) - 1;
    Partitioned parts = partition(its_keys, part, item_mask);
    const size_t count = parts.bounds.size() - 1;
    Array<Pairs> found(count);
    auto asked_for = [&](size_t one, size_t other) {
        return (sides.size == 0 || opposite(sides[one], sides[other])) &&
               !(crowded.size != 0 && crowded[one] && crowded[other]) &&
               bands.first_meet_in(band, one, other);
    };
    auto list_bucket = [&](Bucket bucket, Pairs& out) {
        if (bucket.size > cap) {
            return;
        }
        for (const int32_t* a = bucket.begin(); a < bucket.end(); ++a) {
            for (const int32_t* b = a + 1; b < bucket.end(); ++b) {
                if (asked_for(static_cast<size_t>(*a), static_cast<size_t>(*b))) {
                    out.left.push_back(*a);
                    out.right.push_back(*b);
                }
            }
        }
    };
    parallel_workers(count, 1, threads, [&] {
        return [&, members = Array<int32_t>()](size_t begin, size_t end) mutable {
            for (size_t p = begin; p < end; ++p) {
                uint64_t* const first = parts.packed.data() + parts.bounds[p];
                uint64_t* const last = parts.packed.data() + parts.bounds[p + 1];
                each_bucket(first, last, its_keys, item_mask, members,
                            [&](Bucket bucket) { list_bucket(bucket, found[p]); });
            }
        };
    });
    return {concatenate(found, &Pairs::left), concatenate(found, &Pairs::right)};
}

} // namespace lookalike
