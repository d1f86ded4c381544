// The Python module lookalike.kernels._native: the only file that knows nanobind.
//
// Arrays are borrowed without copies on the way in; results are vectors handed over to NumPy. The
// GIL is released while a kernel works. Shapes are trusted: kernels/__init__.py is the only caller.
#include "kernels.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace nb = nanobind;
using namespace nb::literals;
using namespace lookalike;

namespace {

template <class T, int N = 1>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T> using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array> auto span(const Array& array) {
    return Span<std::remove_pointer_t<decltype(array.data())>>{array.data(), array.size()};
}

using Sides = std::optional<In<uint8_t>>;
constexpr size_t no_cap = SIZE_MAX;

Bytes span(const Sides& sides) {
    return sides ? span(*sides) : Bytes{nullptr, 0};
}

template <class T> auto give(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* owner = new std::vector<T>(std::move(values));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(owner->data(), shape.size(), shape.begin(), capsule));
}
template <class T> auto give(std::vector<T>&& values) {
    const size_t size = values.size();
    return give(std::move(values), {size});
}

// Runs a kernel without the GIL.
template <class Work> auto freely(Work&& work) {
    nb::gil_scoped_release release;
    return work();
}

template <class Value> struct Named {
    const char* name;
    Value value;
};
template <class Value, size_t n>
Value named(const std::string& name, const Named<Value> (&known)[n]) {
    for (const auto& each : known) {
        if (name == each.name) {
            return each.value;
        }
    }
    throw std::invalid_argument("unknown name: " + name);
}
Unit unit_named(const std::string& name) {
    return named<Unit>(name, {{"words", Unit::words}, {"chars", Unit::chars}});
}
Profile profile_named(const std::string& name) {
    return named<Profile>(name, {{"none", Profile::none}, {"standard", Profile::standard}});
}
Scheme scheme_named(const std::string& name) {
    return named<Scheme>(name, {{"fast", Scheme::fast}, {"classic", Scheme::classic}});
}

nb::tuple give(Ragged<uint64_t>&& ragged) {
    return nb::make_tuple(give(std::move(ragged.values)), give(std::move(ragged.starts)));
}

} // namespace

NB_MODULE(_native, m) {
    m.attr("UNICODE") = unicode_version();

    m.def(
        "tokenise",
        [](In<uint8_t> data, In<int64_t> offsets, const std::string& unit,
           const std::string& profile) {
            auto tokens =
                tokenise(span(data), span(offsets), unit_named(unit), profile_named(profile));
            return nb::make_tuple(give(std::move(tokens.tokens.values)),
                                  give(std::move(tokens.tokens.starts)),
                                  give(std::move(tokens.starts)));
        },
        "data"_a, "offsets"_a, "unit"_a, "profile"_a);

    m.def(
        "shingle_text",
        [](In<uint8_t> data, In<int64_t> offsets, const std::string& unit, size_t k,
           const std::string& profile, uint64_t key, unsigned threads) {
            const auto kind = unit_named(unit);
            const auto how = profile_named(profile);
            return give(freely([&] {
                return shingle_text(span(data), span(offsets), kind, k, how, key, threads);
            }));
        },
        "data"_a, "offsets"_a, "unit"_a, "k"_a, "profile"_a, "key"_a, "threads"_a = 1);

    m.def(
        "shingle_tokens",
        [](In<uint8_t> data, In<int64_t> offsets, In<int64_t> starts, size_t k, uint64_t key,
           unsigned threads) {
            return give(freely([&] {
                return shingle_tokens(span(data), span(offsets), span(starts), k, key, threads);
            }));
        },
        "data"_a, "offsets"_a, "starts"_a, "k"_a, "key"_a, "threads"_a = 1);

    m.def(
        "number_occurrences",
        [](InOut<uint64_t> hashes, In<int64_t> starts, unsigned threads) {
            freely([&] { number_occurrences(span(hashes), span(starts), threads); });
        },
        "hashes"_a, "starts"_a, "threads"_a = 1);

    m.def(
        "fingerprint",
        [](In<uint64_t> hashes, In<int64_t> starts, unsigned threads) {
            return give(freely([&] { return fingerprint(span(hashes), span(starts), threads); }));
        },
        "hashes"_a, "starts"_a, "threads"_a = 1);

    m.def(
        "first_copies",
        [](In<uint64_t> hashes, In<int64_t> starts, In<uint64_t> prints, unsigned threads) {
            return give(freely(
                [&] { return first_copies(span(hashes), span(starts), span(prints), threads); }));
        },
        "hashes"_a, "starts"_a, "prints"_a, "threads"_a = 1);

    m.def(
        "sketch",
        [](const std::string& scheme, In<uint64_t> hashes, In<int64_t> starts, In<int32_t> items,
           size_t slots, uint64_t seed, unsigned threads) {
            const auto how = scheme_named(scheme);
            const size_t count = items.size();
            return give(freely([&] {
                            std::vector<uint64_t> signatures(count * slots);
                            sketch(how, span(hashes), span(starts), span(items), slots, seed,
                                   {signatures.data(), signatures.size()}, threads);
                            return signatures;
                        }),
                        {count, slots});
        },
        "scheme"_a, "hashes"_a, "starts"_a, "items"_a, "slots"_a, "seed"_a, "threads"_a = 1);

    m.def(
        "band_keys",
        [](In<uint64_t, 2> signatures, size_t bands, size_t rows, unsigned threads) {
            const size_t items = signatures.shape(0);
            return give(freely([&] {
                            std::vector<uint64_t> keys(bands * items);
                            band_keys(span(signatures), items, bands, rows,
                                      {keys.data(), keys.size()}, threads);
                            return keys;
                        }),
                        {bands, items});
        },
        "signatures"_a, "bands"_a, "rows"_a, "threads"_a = 1);

    m.def(
        "candidates",
        [](In<uint64_t, 2> keys, size_t band, Sides sides, size_t cap, unsigned threads) {
            auto found = freely([&] {
                return candidates(span(keys), keys.shape(1), band, span(sides), cap, threads);
            });
            return nb::make_tuple(give(std::move(found.pairs.left)),
                                  give(std::move(found.pairs.right)), give(std::move(found.crowd)));
        },
        "keys"_a, "band"_a, "sides"_a = nb::none(), "cap"_a = no_cap, "threads"_a = 1);

    m.def(
        "canonicalise",
        [](InOut<uint64_t> hashes, In<int64_t> starts, InOut<int32_t> sizes, In<int32_t> items,
           unsigned threads) {
            freely([&] {
                canonicalise(span(hashes), span(starts), span(sizes), span(items), threads);
            });
        },
        "hashes"_a, "starts"_a, "sizes"_a, "items"_a, "threads"_a = 1);

    m.def(
        "verify",
        [](In<uint64_t> hashes, In<int64_t> starts, In<int32_t> sizes, In<int32_t> left,
           In<int32_t> right, int64_t numerator, int64_t denominator, unsigned threads) {
            return give(freely([&] {
                std::vector<int32_t> overlaps(left.size());
                verify(span(hashes), span(starts), span(sizes), span(left), span(right), numerator,
                       denominator, {overlaps.data(), overlaps.size()}, threads);
                return overlaps;
            }));
        },
        "hashes"_a, "starts"_a, "sizes"_a, "left"_a, "right"_a, "numerator"_a, "denominator"_a,
        "threads"_a = 1);

    m.def(
        "join",
        [](In<uint64_t> hashes, In<int64_t> starts, In<int32_t> sizes, In<int32_t> items,
           Sides sides, int64_t numerator, int64_t denominator, size_t limit, unsigned threads) {
            auto found = freely([&] {
                return join(span(hashes), span(starts), span(sizes), span(items), span(sides),
                            numerator, denominator, limit, threads);
            });
            return nb::make_tuple(give(std::move(found.left)), give(std::move(found.right)),
                                  give(std::move(found.overlap)));
        },
        "hashes"_a, "starts"_a, "sizes"_a, "items"_a, "sides"_a.none(), "numerator"_a,
        "denominator"_a, "limit"_a = no_cap, "threads"_a = 1);

    m.def(
        "forest",
        [](In<uint64_t> hashes, In<int64_t> starts, In<int32_t> sizes, In<int32_t> items,
           Sides sides, int64_t numerator, int64_t denominator, unsigned threads) {
            auto found = freely([&] {
                return forest(span(hashes), span(starts), span(sizes), span(items), span(sides),
                              numerator, denominator, threads);
            });
            return nb::make_tuple(give(std::move(found.left)), give(std::move(found.right)));
        },
        "hashes"_a, "starts"_a, "sizes"_a, "items"_a, "sides"_a.none(), "numerator"_a,
        "denominator"_a, "threads"_a = 1);

    m.def(
        "greedy",
        [](In<uint64_t> hashes, In<int64_t> starts, In<int32_t> sizes, In<int32_t> items,
           Sides sides, In<int32_t> order, In<uint8_t> protect, In<int32_t> joined,
           In<int32_t> left, In<int32_t> right, int64_t numerator, int64_t denominator,
           unsigned threads) {
            return give(freely([&] {
                return greedy(span(hashes), span(starts), span(sizes), span(items), span(sides),
                              span(order), span(protect), span(joined), span(left), span(right),
                              numerator, denominator, threads);
            }));
        },
        "hashes"_a, "starts"_a, "sizes"_a, "items"_a, "sides"_a.none(), "order"_a, "protect"_a,
        "joined"_a, "left"_a, "right"_a, "numerator"_a, "denominator"_a, "threads"_a = 1);

    m.def(
        "components",
        [](size_t n, In<int32_t> left, In<int32_t> right) {
            return give(freely([&] { return components(n, span(left), span(right)); }));
        },
        "n"_a, "left"_a, "right"_a);
}
