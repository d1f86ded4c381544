// Banding: signatures -> band keys -> candidate pairs.
#include "buckets.hpp"
#include "comparing.hpp"
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
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

std::optional<Array<uint64_t>> candidates(Hashes keys, Bytes sides, Bytes crowded, size_t cap,
                                          Part part, size_t most, unsigned threads) {
    Buckets buckets(keys, part);
    // Partition p writes its pairs from starts[p] on, where there is room for all it may have.
    Array<size_t> starts(buckets.partitions() + 1, 0);
    buckets.each(threads, [&](size_t partition, Bucket bucket) {
        if (bucket.size <= cap) {
            starts[partition + 1] += bucket.size * (bucket.size - 1) / 2;
        }
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    if (starts.back() > most) {
        return std::nullopt;
    }
    Array<uint64_t> pairs(starts.back());
    Array<size_t> ends(starts.begin(), starts.end() - 1);
    auto asked_for = [&](size_t one, size_t other) {
        return (sides.size == 0 || opposite(sides[one], sides[other])) &&
               !(crowded.size != 0 && crowded[one] && crowded[other]);
    };
    buckets.each(threads, [&](size_t partition, Bucket bucket) {
        if (bucket.size > cap) {
            return;
        }
        for (const int32_t* a = bucket.begin(); a < bucket.end(); ++a) {
            for (const int32_t* b = a + 1; b < bucket.end(); ++b) {
                const uint64_t one = static_cast<uint64_t>(*a), other = static_cast<uint64_t>(*b);
                if (asked_for(one, other)) {
                    pairs[ends[partition]++] = one << 32 | other;
                }
            }
        }
    });
    size_t out = 0;
    for (size_t partition = 0; partition < ends.size(); ++partition) {
        for (size_t at = starts[partition]; at < ends[partition]; ++at) {
            pairs[out++] = pairs[at];
        }
    }
    pairs.resize(out);
    return pairs;
}

} // namespace lookalike
