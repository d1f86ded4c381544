// The Python module lookalike.kernels._native: the only file that knows nanobind.
//
// Arrays are borrowed without copies on the way in; results are vectors handed over to NumPy. The
// GIL is released while a kernel works. Shapes are trusted: kernels/__init__.py is the only caller.
#include "kernels.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cerrno>
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

using MaybeIn = std::optional<In<uint8_t>>;
constexpr size_t no_cap = SIZE_MAX;

Bytes span(const MaybeIn& flags) {
    return flags ? span(*flags) : Bytes{nullptr, 0};
}

template <class T> auto give(Array<T>&& values, std::initializer_list<size_t> shape) {
    auto* owner = new Array<T>(std::move(values));
    nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(owner->data(), shape.size(), shape.begin(), capsule));
}
template <class T> auto give(Array<T>&& values) {
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
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const scratch::Failure& failure) {
            errno = failure.code;
            PyErr_SetFromErrnoWithFilename(PyExc_OSError, failure.directory.c_str());
        }
    });

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
        [](In<uint64_t> hashes, In<int64_t> starts, In<uint64_t> prints, uint64_t part,
           uint64_t parts, unsigned threads) {
            auto found = freely([&] {
                return first_copies(span(hashes), span(starts), span(prints), {part, parts},
                                    threads);
            });
            return nb::make_tuple(give(std::move(found.copies)), give(std::move(found.firsts)));
        },
        "hashes"_a, "starts"_a, "prints"_a, "part"_a = 0, "parts"_a = 1, "threads"_a = 1);

    m.def(
        "members",
        [](In<int32_t> group_of, size_t groups) {
            auto found = freely([&] { return members(span(group_of), groups); });
            return nb::make_tuple(give(std::move(found.order)), give(std::move(found.starts)));
        },
        "group_of"_a, "groups"_a);

    m.def(
        "sketch",
        [](const std::string& scheme, In<uint64_t> hashes, In<int64_t> starts, In<int32_t> items,
           size_t slots, uint64_t seed, unsigned threads) {
            const auto how = scheme_named(scheme);
            const size_t count = items.size();
            return give(freely([&] {
                            Array<uint64_t> signatures(count * slots);
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
                            Array<uint64_t> keys(bands * items);
                            band_keys(span(signatures), items, bands, rows,
                                      {keys.data(), keys.size()}, threads);
                            return keys;
                        }),
                        {bands, items});
        },
        "signatures"_a, "bands"_a, "rows"_a, "threads"_a = 1);

    m.def(
        "crowd",
        [](In<uint64_t> keys, size_t cap, unsigned threads) {
            return give(freely([&] { return crowd(span(keys), cap, threads); }));
        },
        "keys"_a, "cap"_a, "threads"_a = 1);

    m.def(
        "candidates",
        [](In<uint64_t> keys, MaybeIn sides, MaybeIn crowded, size_t cap, uint64_t part,
           uint64_t parts, size_t most, unsigned threads) -> nb::object {
            auto found = freely([&] {
                return candidates(span(keys), span(sides), span(crowded), cap, {part, parts}, most,
                                  threads);
            });
            return found ? give(std::move(*found)) : nb::none();
        },
        "keys"_a, "sides"_a = nb::none(), "crowded"_a = nb::none(), "cap"_a = no_cap, "part"_a = 0,
        "parts"_a = 1, "most"_a = no_cap, "threads"_a = 1);

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
        "gather",
        [](In<uint64_t> hashes, In<int64_t> starts, In<int32_t> sizes, In<int32_t> items,
           unsigned threads) {
            auto found = freely([&] {
                return gather(span(hashes), span(starts), span(sizes), span(items), threads);
            });
            return nb::make_tuple(give(std::move(found.sets.values)),
                                  give(std::move(found.sets.starts)), give(std::move(found.sizes)));
        },
        "hashes"_a, "starts"_a, "sizes"_a, "items"_a, "threads"_a = 1);

    m.def(
        "verify",
        [](In<uint64_t> hashes, In<int64_t> starts, In<int32_t> sizes, In<int32_t> left,
           In<int32_t> right, int64_t numerator, int64_t denominator, unsigned threads) {
            return give(freely([&] {
                Array<int32_t> overlaps(left.size());
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
           MaybeIn sides, int64_t numerator, int64_t denominator, size_t limit, unsigned threads) {
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
           MaybeIn sides, int64_t numerator, int64_t denominator, unsigned threads) {
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
           MaybeIn sides, In<int32_t> order, In<uint8_t> protect, In<int32_t> joined,
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
        [](InOut<int32_t> labels, In<int32_t> left, In<int32_t> right) {
            freely([&] { components(span(labels), span(left), span(right)); });
        },
        "labels"_a, "left"_a, "right"_a);

    m.def(
        "order_by",
        [](In<int64_t> ranks) { return give(freely([&] { return order_by(span(ranks)); })); },
        "ranks"_a);

    m.def(
        "group_order",
        [](In<int32_t> order, In<int32_t> group_of, size_t groups) {
            auto found = freely([&] { return group_order(span(order), span(group_of), groups); });
            return nb::make_tuple(give(std::move(found.groups)), give(std::move(found.leaders)));
        },
        "order"_a, "group_of"_a, "groups"_a);

    m.def(
        "checksum", [](In<uint8_t> data) { return freely([&] { return checksum(span(data)); }); },
        "data"_a);

    m.def(
        "set_scratch",
        [](const std::optional<std::string>& directory, size_t allowance) {
            scratch::configure(directory.value_or(""), allowance);
        },
        "directory"_a.none(), "allowance"_a);

    m.def("scratch_in_use", [] {
        const scratch::Use use = scratch::in_use();
        return nb::make_tuple(use.anonymous, use.in_files);
    });

    m.def(
        "allocate",
        [](size_t nbytes) {
            // Large blocks are full of zeros already: writing them would touch all of it.
            return give(freely([&] {
                return nbytes < scratch::large ? Array<uint8_t>(nbytes, 0) : Array<uint8_t>(nbytes);
            }));
        },
        "nbytes"_a);
}
