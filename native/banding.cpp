// Banding: signatures -> band keys -> candidate pairs.
#include "buckets.hpp"
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
constexpr size_t cells_per_cap = 4; // so that hardly a cell is above the cap by chance
constexpr unsigned most_cell_bits = 22;
constexpr size_t most_tables = 4;

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

Pairs candidates(Hashes keys, Bytes sides, Bytes crowded, size_t cap, Part part, unsigned threads) {
    Buckets buckets(keys, part);
    Array<Pairs> found(buckets.partitions());
    auto asked_for = [&](size_t one, size_t other) {
        return (sides.size == 0 || opposite(sides[one], sides[other])) &&
               !(crowded.size != 0 && crowded[one] && crowded[other]);
    };
    buckets.each(threads, [&](size_t partition, Bucket bucket) {
        if (bucket.size > cap) {
            return;
        }
        Pairs& out = found[partition];
        for (const int32_t* a = bucket.begin(); a < bucket.end(); ++a) {
            for (const int32_t* b = a + 1; b < bucket.end(); ++b) {
                if (asked_for(static_cast<size_t>(*a), static_cast<size_t>(*b))) {
                    out.left.push_back(*a);
                    out.right.push_back(*b);
                }
            }
        }
    });
    return {concatenate(found, &Pairs::left), concatenate(found, &Pairs::right)};
}

} // namespace lookalike
