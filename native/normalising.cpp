// Normalisation: a text as bytes -> the text under a profile, as UTF-8.
//
// `standard` is NFKC_Casefold of Unicode with the remaining format characters dropped: marks are
// put in order, every code point is replaced by its folded form, and the whole is composed
// canonically. Composition only ever reaches back to the last code point that "starts a segment"
// (nothing before it can interact with it), and almost every segment is one code point, whose
// folded form is already composed. So the text is read once, folding as it goes; when a code point
// turns up that belongs to the segment before it, that segment is taken back and composed as a
// whole.
#include "kernels.hpp"
#include "unicode.hpp"

#include <algorithm>
#include <cstring>

namespace lookalike {
namespace {

using namespace unicode;

constexpr uint32_t S = 0xAC00, L = 0x1100, V = 0x1161, T = 0x11A7; // Hangul, by arithmetic
constexpr uint32_t L_count = 19, V_count = 21, T_count = 28;
constexpr uint32_t S_count = L_count * V_count * T_count;

constexpr size_t longest_fold_bytes = 4 * longest_fold;

// ASCII is written in runs of at most this many bytes: room for all that is left of a huge text
// would be room for what is not there, when something before it grew.
constexpr std::ptrdiff_t longest_run = 1 << 12;

using Codes = std::vector<uint32_t>;

void decompose(uint32_t code, Codes& out) {
    if (code - S < S_count) {
        const uint32_t syllable = code - S;
        out.push_back(L + syllable / (V_count * T_count));
        out.push_back(V + syllable % (V_count * T_count) / T_count);
        if (syllable % T_count) {
            out.push_back(T + syllable % T_count);
        }
    } else if (const uint16_t place = look_up(decompose_index, decompose_blocks, code)) {
        const uint32_t* list = decompose_pool + place;
        out.insert(out.end(), list + 1, list + 1 + *list);
    } else {
        out.push_back(code);
    }
}

// The composite of two code points, or 0.
uint32_t compose(uint32_t first, uint32_t second) {
    if (first - L < L_count && second - V < V_count) {
        return S + ((first - L) * V_count + second - V) * T_count;
    }
    if (first - S < S_count && (first - S) % T_count == 0 && second - T - 1 < T_count - 1) {
        return first + second - T;
    }
    constexpr size_t count = sizeof compositions / sizeof compositions[0] / 3;
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const uint32_t* row = compositions + 3 * middle;
        if (row[0] < first || (row[0] == first && row[1] < second)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const uint32_t* row = compositions + 3 * low;
    return low < count && row[0] == first && row[1] == second ? row[2] : 0;
}

void order_marks(Codes& codes) {
    auto combining = [](uint32_t code) { return properties(code).combining(); };
    for (size_t start = 0; start < codes.size();) {
        size_t end = start + 1;
        while (end < codes.size() && combining(codes[end])) {
            ++end;
        }
        std::stable_sort(codes.begin() + start, codes.begin() + end,
                         [&](uint32_t a, uint32_t b) { return combining(a) < combining(b); });
        start = end;
    }
}

// Composes in place what was decomposed and ordered.
void compose_all(Codes& codes) {
    size_t size = 0, starter = SIZE_MAX;
    uint8_t last_class = 0;
    for (const uint32_t code : codes) {
        const uint8_t its_class = properties(code).combining();
        const bool blocked = starter != SIZE_MAX && starter + 1 != size && last_class >= its_class;
        const uint32_t composite =
            starter == SIZE_MAX || blocked ? 0 : compose(codes[starter], code);
        if (composite) {
            codes[starter] = composite;
            continue;
        }
        if (!its_class) {
            starter = size;
        }
        last_class = its_class;
        codes[size++] = code;
    }
    codes.resize(size);
}

uint8_t* fold(uint32_t code, uint8_t* out) {
    const uint16_t place = look_up(fold_index, fold_blocks, code);
    if (!place) {
        return encode(code, out);
    }
    const uint32_t* list = fold_pool + place;
    for (uint32_t i = 0; i < *list; ++i) {
        out = encode(list[1 + i], out);
    }
    return out;
}

constexpr uint64_t each_byte(uint8_t byte) {
    return 0x0101010101010101u * byte;
}

bool is_ascii(uint64_t eight) {
    return (eight & each_byte(0x80)) == 0;
}

// Lower case of eight ASCII bytes: bit 7 of each sum says whether the byte is in A..Z.
uint64_t lower(uint64_t eight) {
    const uint64_t from_a = eight + each_byte(0x80 - 'A');
    const uint64_t past_z = eight + each_byte(0x80 - 'Z' - 1);
    return eight | ((from_a & ~past_z & each_byte(0x80)) >> 2);
}

uint8_t lower(uint8_t byte) {
    return static_cast<uint8_t>(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
}

// The buffer that is written to, with room made ahead of every write.
class Writer {
public:
    explicit Writer(Array<uint8_t>& out, size_t expected) : out_(out), size_(out.size()) {
        reserve(expected + longest_fold_bytes);
    }
    ~Writer() { out_.resize(size_); }

    // A place with room for at least `more` bytes.
    uint8_t* at_end(size_t more) {
        if (out_.size() - size_ < more) {
            reserve(more + out_.size() / 2);
        }
        return out_.data() + size_;
    }
    void advance_to(const uint8_t* place) { size_ = static_cast<size_t>(place - out_.data()); }
    size_t size() const { return size_; }
    void take_back_to(size_t size) { size_ = size; }

private:
    void reserve(size_t more) { out_.resize(size_ + more); }

    Array<uint8_t>& out_;
    size_t size_;
};

// Composes the segment that starts at `text`, with all code points behind it that belong to it;
// returns the place where the next segment starts.
const uint8_t* compose_segment(const uint8_t* text, const uint8_t* limit, Writer& writer) {
    Codes raw, codes;
    const uint8_t* at = text;
    do {
        const Decoded next = decode(at, limit);
        if (at != text && properties(next.code).starts_segment()) {
            break;
        }
        decompose(next.code, raw);
        at += next.size;
    } while (at < limit);
    order_marks(raw);
    for (const uint32_t code : raw) {
        if (const uint16_t place = look_up(fold_index, fold_blocks, code)) {
            const uint32_t* list = fold_pool + place;
            std::for_each(list + 1, list + 1 + *list, [&](uint32_t c) { decompose(c, codes); });
        } else {
            decompose(code, codes);
        }
    }
    order_marks(codes);
    compose_all(codes);
    for (const uint32_t code : codes) {
        writer.advance_to(encode(code, writer.at_end(4)));
    }
    return at;
}

void normalise_standard(Bytes text, Writer& writer) {
    const uint8_t* at = text.begin();
    const uint8_t* const end = text.end();
    const uint8_t* segment = at;         // where the last segment starts in the text
    size_t segment_size = writer.size(); // and how much was written before it
    while (at < end) {
        if (*at < 0x80) {
            const uint8_t* const stop = at + std::min(end - at, longest_run);
            uint8_t* out = writer.at_end(static_cast<size_t>(stop - at));
            uint64_t eight;
            while (stop - at >= 8 && (std::memcpy(&eight, at, 8), is_ascii(eight))) {
                eight = lower(eight);
                std::memcpy(out, &eight, 8);
                at += 8, out += 8;
            }
            while (at < stop && *at < 0x80) {
                *out++ = lower(*at++);
            }
            writer.advance_to(out);
            segment = at - 1;
            segment_size = writer.size() - 1;
            continue;
        }
        const Decoded next = decode(at, end);
        if (properties(next.code).starts_segment()) {
            segment = at;
            segment_size = writer.size();
            writer.advance_to(fold(next.code, writer.at_end(longest_fold_bytes)));
            at += next.size;
        } else {
            writer.take_back_to(segment_size);
            at = compose_segment(segment, end, writer);
            segment = at; // what follows starts a segment of its own
            segment_size = writer.size();
        }
    }
}

void replace_ill_formed(Bytes text, Writer& writer) {
    for (const uint8_t* at = text.begin(); at < text.end();) {
        const Decoded next = decode(at, text.end());
        writer.advance_to(encode(next.code, writer.at_end(4)));
        at += next.size;
    }
}

} // namespace

const char* unicode_version() {
    return unicode::version;
}

void normalise(Bytes text, Profile profile, Array<uint8_t>& out) {
    Writer writer(out, text.size);
    if (profile == Profile::standard) {
        normalise_standard(text, writer);
    } else {
        replace_ill_formed(text, writer);
    }
}

} // namespace lookalike
