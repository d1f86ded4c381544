// Banding: signatures -> band keys -> candidate pairs.
//
// A band is sorted as packed words (high bits of the key, low bits the item), in partitions by the
// top bits of the key: scattering the items once makes every partition small enough for the cache,
// and partitions are independent of each other. Equal high bits are only a hint: whether two items
// share a bucket is decided by their whole keys.
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

bool opposite(uint8_t one, uint8_t other) {
    return ((one & 1) && (other & 2)) || ((one & 2) && (other & 1));
}

// The keys of all bands, to ask of two items in which bands they agree.
struct Bands {
    Hashes keys;
    size_t items;

    Hashes band(size_t number) const { return {keys.data + number * items, items}; }

    bool first_meet_in(size_t number, size_t one, size_t other) const {
        if (band(number)[one] != band(number)[other]) {
            return false;
        }
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

Pairs candidates(Hashes keys, size_t items, size_t band, Bytes sides, unsigned threads) {
    const Bands bands{keys, items};
    const uint64_t item_mask = (uint64_t{1} << bits_for(items)) - 1;
    Partitioned parts = partition(bands.band(band), item_mask);
    const size_t count = parts.bounds.size() - 1;
    std::vector<Pairs> found(count);
    parallel(count, 1, threads, [&](size_t begin, size_t end) {
        for (size_t p = begin; p < end; ++p) {
            uint64_t* const last = parts.packed.data() + parts.bounds[p + 1];
            uint64_t* run = parts.packed.data() + parts.bounds[p];
            std::sort(run, last);
            for (uint64_t* run_end; run < last; run = run_end) {
                run_end = run + 1;
                while (run_end < last && ((*run ^ *run_end) & ~item_mask) == 0) {
                    ++run_end;
                }
                for (const uint64_t* a = run; a < run_end; ++a) {
                    for (const uint64_t* b = a + 1; b < run_end; ++b) {
                        const size_t i = *a & item_mask, j = *b & item_mask;
                        if ((sides.size == 0 || opposite(sides[i], sides[j])) &&
                            bands.first_meet_in(band, i, j)) {
                            found[p].left.push_back(static_cast<int32_t>(i));
                            found[p].right.push_back(static_cast<int32_t>(j));
                        }
                    }
                }
            }
        }
    });
    Pairs result;
    for (const Pairs& each : found) {
        result.left.insert(result.left.end(), each.left.begin(), each.left.end());
        result.right.insert(result.right.end(), each.right.begin(), each.right.end());
    }
    return result;
}

} // namespace lookalike
