// Sketching: sets -> signatures.
//
// The rounds of the fast sketch touch one slot per element: about n + K ln K evaluations in all,
// where the classic one makes n * K. See reference.py for the definition of both.
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 16;
constexpr int round_shift = 52; // a round stands above 52 bits of fraction
constexpr int fraction_shift = 12;

using Elements = Hashes;
using Family = std::vector<Drawn>;

Family draw_family(uint64_t seed, size_t count) {
    Family family;
    family.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        family.emplace_back(seed, i);
    }
    return family;
}

// Lowers one slot; returns whether it was empty before.
bool lower_slot(uint64_t& slot, uint64_t value) {
    const bool was_empty = slot == empty_slot;
    slot = std::min(slot, value);
    return was_empty;
}

void sketch_fast(Elements elements, const Family& family, Span<uint64_t> signature) {
    const size_t slots = signature.size;
    std::fill(signature.begin(), signature.end(), empty_slot);
    if (elements.size == 0) {
        return;
    }
    size_t filled = 0;
    for (size_t round = 0; round < slots && filled < slots; ++round) {
        const Drawn hash = family[round];
        const uint64_t tag = static_cast<uint64_t>(round) << round_shift;
        for (const uint64_t x : elements) {
            const uint128 product = static_cast<uint128>(hash(x)) * slots;
            const uint64_t fraction = static_cast<uint64_t>(product) >> fraction_shift;
            filled += lower_slot(signature[static_cast<size_t>(product >> 64)], tag | fraction);
        }
    }
    for (size_t slot = 0; filled < slots; ++slot) {
        const Drawn hash = family[slots + slot];
        const uint64_t tag = static_cast<uint64_t>(slots + slot) << round_shift;
        size_t fresh = 0;
        for (const uint64_t x : elements) {
            fresh |= lower_slot(signature[slot], tag | hash(x) >> fraction_shift);
        }
        filled += fresh;
    }
}

void sketch_classic(Elements elements, const Family& family, Span<uint64_t> signature) {
    for (size_t slot = 0; slot < signature.size; ++slot) {
        uint64_t least = empty_slot;
        for (const uint64_t x : elements) {
            least = std::min(least, family[slot](x));
        }
        signature[slot] = least;
    }
}

} // namespace

void sketch(Scheme scheme, Hashes hashes, Starts starts, Items items, size_t slots, uint64_t seed,
            Span<uint64_t> signatures, unsigned threads) {
    const Family family = draw_family(seed, scheme == Scheme::fast ? 2 * slots : slots);
    parallel(items.size, items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const size_t item = static_cast<size_t>(items[i]);
            const Elements elements{hashes.data + starts[item],
                                    static_cast<size_t>(starts[item + 1] - starts[item])};
            const Span<uint64_t> signature{signatures.data + i * slots, slots};
            if (scheme == Scheme::fast) {
                sketch_fast(elements, family, signature);
            } else {
                sketch_classic(elements, family, signature);
            }
        }
    });
}

} // namespace lookalike
