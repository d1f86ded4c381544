// Every kernel's signature and contract, in the order of the pipeline.
//
// Kernels take flat arrays and return flat arrays. They know nothing of Python, do no I/O but for
// scratch memory (scratch.hpp), keep no state, and give the same bits whatever the number of
// threads. Their meaning is defined by src/lookalike/kernels/reference.py; the comments here say
// only what that does not.
//
// Ragged data is `values` and `starts`: item i owns values[starts[i] .. starts[i + 1]).
#pragma once

#include "hashing.hpp"
#include "scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lookalike {

template <class T> struct Span {
    T* data;
    size_t size;

    T& operator[](size_t i) const { return data[i]; }
    T* begin() const { return data; }
    T* end() const { return data + size; }
};

template <class T> struct Ragged {
    Array<T> values;
    Array<int64_t> starts;
};

using Bytes = Span<const uint8_t>;
using Starts = Span<const int64_t>;
using Hashes = Span<const uint64_t>;
using Items = Span<const int32_t>;

// One of `parts` equal ranges of all 64-bit keys: what is sorted by key can be sorted in parts,
// with less memory.
struct Part {
    uint64_t part, parts;

    bool has(uint64_t key) const { return static_cast<uint64_t>(scaled(key) >> 64) == part; }
    // Where in its range a key stands, as a fraction of 2^64.
    uint64_t place(uint64_t key) const { return static_cast<uint64_t>(scaled(key)); }

private:
    uint128 scaled(uint64_t key) const { return static_cast<uint128>(key) * parts; }
};

enum class Unit { words, chars };
enum class Profile { none, standard };
enum class Scheme { fast, classic };

// normalising.cpp ------------------------------------------------------------------------------

// Bytes that a normalised buffer keeps readable behind its end, so that tokens can be loaded
// eight bytes at a time.
constexpr size_t padding = 8;

// Appends one normalised text to `out`; bytes that are not UTF-8 become U+FFFD.
void normalise(Bytes text, Profile profile, Array<uint8_t>& out);

// The Unicode version of the tables.
const char* unicode_version();

// shingling.cpp --------------------------------------------------------------------------------

struct Tokens {
    Ragged<uint8_t> tokens; // the normalised bytes of every token
    Array<int64_t> starts;  // the first token of every text
};

Tokens tokenise(Bytes data, Starts offsets, Unit unit, Profile profile);

// Time and memory are linear in the text; a text is never split between threads.
Ragged<uint64_t> shingle_text(Bytes data, Starts offsets, Unit unit, size_t k, Profile profile,
                              uint64_t key, unsigned threads);

Ragged<uint64_t> shingle_tokens(Bytes data, Starts offsets, Starts starts, size_t k, uint64_t key,
                                unsigned threads);

void number_occurrences(Span<uint64_t> hashes, Starts starts, unsigned threads);

// collapsing.cpp -------------------------------------------------------------------------------

Array<uint64_t> fingerprint(Hashes hashes, Starts starts, unsigned threads);

struct Copies {
    Array<int32_t> copies, firsts;
};

// Items with equal fingerprints are compared element by element with each first copy among them.
// Takes 8 bytes for each item whose fingerprint is in the part.
Copies first_copies(Hashes hashes, Starts starts, Hashes prints, Part part, unsigned threads);

struct Members {
    Array<int32_t> order;
    Array<int64_t> starts;
};

Members members(Items group_of, size_t groups);

// sketching.cpp --------------------------------------------------------------------------------

// `signatures` has items.size * slots places. Fast: about n + K ln K hash evaluations per item of
// n elements and K slots; classic: n * K.
void sketch(Scheme scheme, Hashes hashes, Starts starts, Items items, size_t slots, uint64_t seed,
            Span<uint64_t> signatures, unsigned threads);

// banding.cpp ----------------------------------------------------------------------------------

// `keys` has bands * items places, one band after the other.
void band_keys(Hashes signatures, size_t items, size_t bands, size_t rows, Span<uint64_t> keys,
               unsigned threads);

struct Pairs {
    Array<int32_t> left, right;
};

// The items of buckets above the cap; `keys` are those of one band. One pass over the keys and a
// table where there are none.
Array<int32_t> crowd(Hashes keys, size_t cap, unsigned threads);

// Sorts a part of one band (8 bytes per item) and lists the pairs of its buckets (8 bytes each), or
// nothing if there may be more than `most`. `sides` and `crowded` are empty, or have one entry per
// item.
std::optional<Array<uint64_t>> candidates(Hashes keys, Bytes sides, Bytes crowded, size_t cap,
                                          Part part, size_t most, unsigned threads);

// verifying.cpp --------------------------------------------------------------------------------

void canonicalise(Span<uint64_t> hashes, Starts starts, Span<int32_t> sizes, Items items,
                  unsigned threads);

struct Gathered {
    Ragged<uint64_t> sets;
    Array<int32_t> sizes;
};

Gathered gather(Hashes hashes, Starts starts, Items sizes, Items items, unsigned threads);

// Merges with early abort: a pair that cannot reach the threshold any more is left at once.
void verify(Hashes hashes, Starts starts, Items sizes, Items left, Items right, int64_t numerator,
            int64_t denominator, Span<int32_t> overlaps, unsigned threads);

// joining.cpp ----------------------------------------------------------------------------------
//
// Exact joins of canonical sets by the prefix filter. `items` are the sets that take part, and
// results speak of positions in that list; `sides` is empty, or has one entry per position.

struct Joined {
    Array<int32_t> left, right, overlap;
};

// Every pair that reaches the threshold. Stops early, with more than `limit` pairs, when there are
// more.
Joined join(Hashes hashes, Starts starts, Items sizes, Items items, Bytes sides, int64_t numerator,
            int64_t denominator, size_t limit, unsigned threads);

// Pairs that reach the threshold and connect what all such pairs connect. A crowd of near-copies is
// settled with about one comparison each.
Pairs forest(Hashes hashes, Starts starts, Items sizes, Items items, Bytes sides, int64_t numerator,
             int64_t denominator, unsigned threads);

// The greedy choice in `order`: an item is kept if no earlier kept one is similar to it, or if it
// is protected. Returns the earliest such one, or -1. Who is similar to whom is given by pairs,
// and, for any two of the `joined` ones, found out here.
Array<int32_t> greedy(Hashes hashes, Starts starts, Items sizes, Items items, Bytes sides,
                      Items order, Bytes protect, Items joined, Items left, Items right,
                      int64_t numerator, int64_t denominator, unsigned threads);

// clustering.cpp -------------------------------------------------------------------------------

void components(Span<int32_t> labels, Items left, Items right);

// choosing.cpp ---------------------------------------------------------------------------------

Array<int32_t> order_by(Starts ranks);

struct GroupOrder {
    Array<int32_t> groups, leaders;
};

GroupOrder group_order(Items order, Items group_of, size_t groups);

// checking.cpp ---------------------------------------------------------------------------------

uint64_t checksum(Bytes data);

} // namespace lookalike
