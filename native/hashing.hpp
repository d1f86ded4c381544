// The hash family lookalike-1: see "The hash family" in src/lookalike/kernels/reference.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lookalike {

constexpr uint64_t C0 = 0x6A09E667F3BCC909, C1 = 0xBB67AE8584CAA73B, C2 = 0x3C6EF372FE94F82B,
                   C3 = 0xA54FF53A5F1D36F1;
constexpr uint64_t polynomial = 0xD1B54A32D192ED03;
constexpr uint64_t golden = 0x9E3779B97F4A7C15;
constexpr uint64_t empty_slot = ~uint64_t{0};

__extension__ using uint128 = unsigned __int128;

inline uint64_t mix(uint64_t a, uint64_t b) {
    const uint128 product = static_cast<uint128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t draw(uint64_t seed, uint64_t number) {
    uint64_t z = seed + (number + 1) * golden;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// One hash function of the family: x -> mix(x ^ a, b).
struct Drawn {
    uint64_t a, b;
    Drawn(uint64_t seed, uint64_t number)
        : a(draw(seed, 2 * number)), b(draw(seed, 2 * number + 1) | 1) {}
    uint64_t operator()(uint64_t x) const { return mix(x ^ a, b); }
};

inline uint64_t little_endian(const uint8_t* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// Reads up to seven bytes behind the token: they have to be readable.
inline uint64_t hash_token(const uint8_t* token, size_t size, uint64_t key) {
    uint64_t state = key ^ (size * C0);
    for (; size > 8; size -= 8, token += 8) {
        state = mix(state ^ little_endian(token), C1);
    }
    const uint64_t mask = ~uint64_t{0} >> (8 * (8 - size));
    return mix(state ^ (little_endian(token) & mask), C1);
}

// `value` is the polynomial over `count` token hashes.
inline uint64_t finish_shingle(uint64_t value, size_t count) {
    return mix(value ^ (count * C0), C2);
}

inline uint64_t occurrence(uint64_t x, uint64_t i) {
    return i == 0 ? x : mix(x + i * C0, C3);
}

} // namespace lookalike
