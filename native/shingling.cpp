// Shingling: texts -> tokens -> hashed k-shingles.
//
// A text is normalised into a scratch buffer, cut into tokens, and every token is hashed as it is
// found; a ring of the last k token hashes lets the polynomial of a shingle roll along.
#include "hashing.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "unicode.hpp"

#include <algorithm>
#include <array>

namespace lookalike {
namespace {

using namespace unicode;

// Texts are handed to threads in groups of about this many bytes.
constexpr int64_t group_bytes = 1 << 18;
constexpr size_t items_per_part = 64;

const std::array<Class, 128> ascii_classes = [] {
    std::array<Class, 128> classes{};
    for (uint32_t code = 0; code < 128; ++code) {
        classes[code] = properties(code).token_class();
    }
    return classes;
}();

// Calls token(begin, size) for each word of a normalised text.
template <class Token> void each_word(Bytes text, Token&& token) {
    const uint8_t* at = text.begin();
    const uint8_t* const end = text.end();
    const uint8_t* begin = at;
    Class open = gap; // the class of the token that could still grow
    while (at < end) {
        Class its_class;
        uint32_t size = 1;
        if (*at < 0x80) {
            its_class = ascii_classes[*at];
        } else {
            const Decoded next = decode_valid(at);
            its_class = properties(next.code).token_class();
            size = next.size;
        }
        const bool grows =
            (its_class == word && open == word) || (its_class == mark && open != gap);
        if (!grows) {
            if (open != gap) {
                token(begin, static_cast<size_t>(at - begin));
            }
            begin = at;
            open =
                its_class == mark ? gap : its_class; // a mark that follows no token marks nothing
        }
        at += size;
    }
    if (open != gap) {
        token(begin, static_cast<size_t>(at - begin));
    }
}

// Calls token(begin, size) for each character of a normalised text; runs of white space are one
// space, and none stand at the ends.
template <class Token> void each_character(Bytes text, Profile profile, Token&& token) {
    static constexpr uint8_t space[padding] = {' '};
    bool pending = false, started = false;
    for (const uint8_t* at = text.begin(); at < text.end();) {
        const Decoded next = decode_valid(at);
        if (profile == Profile::standard && properties(next.code).white_space()) {
            pending = started;
        } else {
            if (pending) {
                token(space, size_t{1});
            }
            token(at, size_t{next.size});
            pending = false;
            started = true;
        }
        at += next.size;
    }
}

// The buffer of one thread: a normalised text with readable bytes behind it.
class Buffer {
public:
    Bytes normalised(Bytes text, Profile profile) {
        bytes_.clear();
        normalise(text, profile, bytes_);
        const size_t size = bytes_.size();
        bytes_.resize(size + padding);
        return {bytes_.data(), size};
    }

private:
    Array<uint8_t> bytes_;
};

template <class Token>
void each_token(Bytes text, Unit unit, Profile profile, Buffer& buffer, Token&& token) {
    const Bytes clean = buffer.normalised(text, profile);
    if (unit == Unit::words) {
        each_word(clean, token);
    } else {
        each_character(clean, profile, token);
    }
}

// A growing list of hashes. A new chunk is about as large as all before it, within limits: nothing
// is copied while it grows, and little is there twice while it is copied to its place in the end.
class Chunks {
public:
    void push(uint64_t hash) {
        if (next_ == end_) {
            add_chunk();
        }
        *next_++ = hash;
    }
    size_t size() const { return room_ - static_cast<size_t>(end_ - next_); }

    // Copies all hashes to `place` and frees them on the way.
    void move_to(uint64_t* place) {
        size_t left = size();
        for (Array<uint64_t>& chunk : chunks_) {
            const size_t count = std::min(left, chunk.size());
            place = std::copy_n(chunk.data(), count, place);
            left -= count;
            Array<uint64_t>().swap(chunk);
        }
    }

private:
    static constexpr size_t least = 1 << 10, most = 1 << 20;

    void add_chunk() {
        chunks_.emplace_back(std::clamp(room_, least, most));
        next_ = chunks_.back().data();
        end_ = next_ + chunks_.back().size();
        room_ += chunks_.back().size();
    }

    std::vector<Array<uint64_t>> chunks_;
    uint64_t *next_ = nullptr, *end_ = nullptr; // the free places of the last chunk
    size_t room_ = 0;                           // places in all chunks
};

// Rolls a window of k token hashes over one item and appends the shingles to `out`.
class Window {
public:
    explicit Window(size_t k) : k_(k) {
        for (size_t i = 0; i < k; ++i) {
            leaving_ *= polynomial;
        }
    }
    void start() {
        value_ = 0;
        count_ = 0;
    }
    void push(uint64_t token, Chunks& out) {
        value_ = value_ * polynomial + token;
        if (count_ < k_) {
            // A document of one token must not pay for a huge k.
            if (ring_.size() <= count_) {
                ring_.push_back(token);
            } else {
                ring_[count_] = token;
            }
        } else {
            uint64_t& oldest = ring_[place_];
            value_ -= oldest * leaving_;
            oldest = token;
            place_ = place_ + 1 == k_ ? 0 : place_ + 1;
        }
        if (++count_ == k_) {
            place_ = 0;
        }
        if (count_ >= k_) {
            out.push(finish_shingle(value_, k_));
        }
    }
    void finish(Chunks& out) const {
        if (count_ > 0 && count_ < k_) {
            out.push(finish_shingle(value_, count_));
        }
    }

private:
    size_t k_, count_ = 0, place_ = 0;
    uint64_t value_ = 0, leaving_ = 1;
    std::vector<uint64_t> ring_;
};

// Cuts items into groups of about `group_bytes` bytes each; returns the first item of each group
// and, at the end, the number of items. `offset(i)` is where item i starts.
template <class Offset> std::vector<size_t> group(size_t items, Offset&& offset) {
    std::vector<size_t> firsts{0};
    for (size_t i = 1; i < items; ++i) {
        if (offset(i) - offset(firsts.back()) >= group_bytes) {
            firsts.push_back(i);
        }
    }
    if (items > 0) {
        firsts.push_back(items);
    }
    return firsts;
}

// Runs shingle(item, window, out) for every item, groups of items in parallel, and joins the
// results in item order.
template <class Offset, class Shingle>
Ragged<uint64_t> shingle_all(size_t items, size_t k, unsigned threads, Offset&& offset,
                             Shingle&& shingle) {
    const std::vector<size_t> firsts = group(items, offset);
    const size_t groups = firsts.size() - 1;
    std::vector<Chunks> parts(groups);
    Ragged<uint64_t> result;
    result.starts.assign(items + 1, 0);
    parallel(groups, 1, threads, [&](size_t begin, size_t end) {
        Window window(k);
        Buffer buffer;
        for (size_t g = begin; g < end; ++g) {
            Chunks& out = parts[g];
            for (size_t i = firsts[g]; i < firsts[g + 1]; ++i) {
                const size_t before = out.size();
                window.start();
                shingle(i, buffer, [&](uint64_t token) { window.push(token, out); });
                window.finish(out);
                result.starts[i + 1] = static_cast<int64_t>(out.size() - before);
            }
        }
    });
    for (size_t i = 0; i < items; ++i) {
        result.starts[i + 1] += result.starts[i];
    }
    result.values.resize(static_cast<size_t>(result.starts.back()));
    parallel(groups, 1, threads, [&](size_t begin, size_t end) {
        for (size_t g = begin; g < end; ++g) {
            parts[g].move_to(result.values.data() + result.starts[firsts[g]]);
        }
    });
    return result;
}

Bytes slice(Bytes data, Starts offsets, size_t i) {
    return {data.data + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

// Hashes a token that stands somewhere in a caller's buffer, where nothing may be read behind it.
uint64_t hash_foreign(Bytes token, uint64_t key) {
    if (token.size == 0) {
        return key;
    }
    const size_t head = (token.size - 1) / 8 * 8; // whole words, all but the last
    uint64_t state = key ^ (token.size * C0);
    for (size_t at = 0; at < head; at += 8) {
        state = mix(state ^ little_endian(token.data + at), C1);
    }
    uint8_t last[8] = {};
    std::memcpy(last, token.data + head, token.size - head);
    return mix(state ^ little_endian(last), C1);
}

} // namespace

Tokens tokenise(Bytes data, Starts offsets, Unit unit, Profile profile) {
    Tokens result;
    Buffer buffer;
    result.tokens.starts.push_back(0);
    result.starts.push_back(0);
    for (size_t i = 0; i + 1 < offsets.size; ++i) {
        each_token(slice(data, offsets, i), unit, profile, buffer,
                   [&](const uint8_t* begin, size_t size) {
                       auto& bytes = result.tokens.values;
                       bytes.insert(bytes.end(), begin, begin + size);
                       result.tokens.starts.push_back(static_cast<int64_t>(bytes.size()));
                   });
        result.starts.push_back(static_cast<int64_t>(result.tokens.starts.size() - 1));
    }
    return result;
}

Ragged<uint64_t> shingle_text(Bytes data, Starts offsets, Unit unit, size_t k, Profile profile,
                              uint64_t key, unsigned threads) {
    return shingle_all(
        offsets.size - 1, k, threads, [&](size_t i) { return offsets[i]; },
        [&](size_t i, Buffer& buffer, auto&& push) {
            each_token(
                slice(data, offsets, i), unit, profile, buffer,
                [&](const uint8_t* begin, size_t size) { push(hash_token(begin, size, key)); });
        });
}

Ragged<uint64_t> shingle_tokens(Bytes data, Starts offsets, Starts starts, size_t k, uint64_t key,
                                unsigned threads) {
    return shingle_all(
        starts.size - 1, k, threads, [&](size_t i) { return offsets[starts[i]]; },
        [&](size_t i, Buffer&, auto&& push) {
            for (int64_t token = starts[i]; token < starts[i + 1]; ++token) {
                push(hash_foreign(slice(data, offsets, static_cast<size_t>(token)), key));
            }
        });
}

void number_occurrences(Span<uint64_t> hashes, Starts starts, unsigned threads) {
    parallel(starts.size - 1, items_per_part, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            uint64_t* const first = hashes.data + starts[i];
            uint64_t* const last = hashes.data + starts[i + 1];
            std::sort(first, last);
            for (uint64_t* run = first; run < last;) {
                const uint64_t x = *run;
                uint64_t count = 0;
                for (; run < last && *run == x; ++run) {
                    *run = occurrence(x, count++);
                }
            }
        }
    });
}

} // namespace lookalike
