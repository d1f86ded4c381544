// Reading and writing UTF-8, and looking code points up in the frozen tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unicode_tables.hpp"

namespace lookalike::unicode {

enum Class : uint16_t { gap = 0, word = 1, alone = 2, mark = 3 };

constexpr uint32_t replacement = 0xFFFD;

struct Properties {
    uint16_t bits;

    Class token_class() const { return static_cast<Class>(bits & 3); }
    bool white_space() const { return bits & 4; }
    bool starts_segment() const { return bits & 8; }
    uint8_t combining() const { return static_cast<uint8_t>(bits >> 8); }
};

inline uint16_t look_up(const uint16_t* index, const uint16_t* blocks, uint32_t code) {
    return blocks[index[code / block] * block + code % block];
}

inline Properties properties(uint32_t code) {
    return {look_up(property_index, property_blocks, code)};
}

struct Decoded {
    uint32_t code;
    uint32_t size; // bytes read, at least 1
};

// Reads one code point of a non-empty text. A maximal piece of an ill-formed sequence is one
// U+FFFD, as Unicode recommends and Python does.
inline Decoded decode(const uint8_t* text, const uint8_t* end) {
    const uint32_t lead = text[0];
    if (lead < 0x80) {
        return {lead, 1};
    }
    uint32_t size = 0, code = 0, low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        size = 2, code = lead & 0x1F;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        size = 3, code = lead & 0x0F;
        low = lead == 0xE0 ? 0xA0 : 0x80;  // shorter forms exist
        high = lead == 0xED ? 0x9F : 0xBF; // surrogates
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        size = 4, code = lead & 0x07;
        low = lead == 0xF0 ? 0x90 : 0x80;
        high = lead == 0xF4 ? 0x8F : 0xBF; // beyond U+10FFFF
    } else {
        return {replacement, 1};
    }
    for (uint32_t i = 1; i < size; ++i) {
        if (text + i == end || text[i] < low || text[i] > high) {
            return {replacement, i};
        }
        code = code << 6 | (text[i] & 0x3F);
        low = 0x80, high = 0xBF;
    }
    return {code, size};
}

// Reads one code point of a text that is known to be well-formed.
inline Decoded decode_valid(const uint8_t* text) {
    const uint32_t lead = text[0];
    if (lead < 0x80) {
        return {lead, 1};
    }
    if (lead < 0xE0) {
        return {(lead & 0x1F) << 6 | (text[1] & 0x3Fu), 2};
    }
    if (lead < 0xF0) {
        return {(lead & 0x0F) << 12 | (text[1] & 0x3Fu) << 6 | (text[2] & 0x3Fu), 3};
    }
    return {(lead & 0x07) << 18 | (text[1] & 0x3Fu) << 12 | (text[2] & 0x3Fu) << 6 |
                (text[3] & 0x3Fu),
            4};
}

// Writes one code point and returns the place behind it; up to four bytes are written.
inline uint8_t* encode(uint32_t code, uint8_t* out) {
    if (code < 0x80) {
        *out++ = static_cast<uint8_t>(code);
    } else if (code < 0x800) {
        *out++ = static_cast<uint8_t>(0xC0 | code >> 6);
        *out++ = static_cast<uint8_t>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = static_cast<uint8_t>(0xE0 | code >> 12);
        *out++ = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3F));
        *out++ = static_cast<uint8_t>(0x80 | (code & 0x3F));
    } else {
        *out++ = static_cast<uint8_t>(0xF0 | code >> 18);
        *out++ = static_cast<uint8_t>(0x80 | (code >> 12 & 0x3F));
        *out++ = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3F));
        *out++ = static_cast<uint8_t>(0x80 | (code & 0x3F));
    }
    return out;
}

} // namespace lookalike::unicode
