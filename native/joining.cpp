// Joining: sets -> every similar pair, exactly, by the prefix filter; and what can be had of the
// pairs without listing them all: a spanning forest, or the greedy choice of what to keep.
//
// Put the elements of all sets into one order, rare ones first. If A and B share at least `least`
// elements, then the first |A| - least + 1 elements of A and the first |B| - least + 1 of B have
// one in common: so it is enough to look up prefixes. With |A| <= |B| the needed overlap is at
// least 2t/(1+t) |A| seen from A, and t |B| seen from B, which gives A a *short* prefix and B a
// *long* one.
//
// What many sets share (boilerplate) comes last in the order, and if it alone does not make two
// sets similar, it is in no short prefix. Every look-up below pairs a short prefix with a long one,
// and so meets no boilerplate.
#include "comparing.hpp"
#include "components.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

namespace lookalike {
namespace {

constexpr size_t items_per_part = 64;
constexpr unsigned counter_bits = 20;
constexpr size_t counted_elements = size_t{1} << 22;

// About how common each element is. A sample of the sets is counted, elements by some of their
// bits, twice: any order of the elements is right, and a rough order by frequency is fast; but a
// rare element taken for a common one would drag boilerplate into a short prefix.
class Frequencies {
public:
    Frequencies(const Comparison& sets, Items items)
        : high_(size_t{1} << counter_bits, 0), low_(size_t{1} << counter_bits, 0) {
        size_t elements = 0;
        for (const int32_t item : items) {
            elements += static_cast<size_t>(sets.size(item));
        }
        const size_t step = elements / counted_elements + 1;
        for (size_t i = 0; i < items.size; i += step) {
            for (const uint64_t x : sets.elements(items[i])) {
                ++high_[x >> (64 - counter_bits)];
                ++low_[x & (low_.size() - 1)];
            }
        }
    }
    uint32_t operator()(uint64_t x) const {
        return std::min(high_[x >> (64 - counter_bits)], low_[x & (low_.size() - 1)]);
    }

private:
    Array<uint32_t> high_, low_;
};

struct Ranked {
    uint32_t frequency;
    uint64_t element;
    bool operator<(const Ranked& other) const {
        return frequency != other.frequency ? frequency < other.frequency : element < other.element;
    }
};

// In which prefixes elements occur, by some of their bits: it may say yes too often, never no.
class Occurrences {
public:
    explicit Occurrences(size_t elements) {
        size_t size = 1 << 10;
        while (size < 8 * elements) {
            size *= 2;
        }
        marks_.assign(size, 0);
    }
    void add(uint64_t x, bool in_short) {
        uint8_t& mark = marks_[x & (marks_.size() - 1)];
        mark = static_cast<uint8_t>((mark & 3) < 2 ? mark + 1 : mark) | (in_short ? shorts : 0);
    }
    bool shared(uint64_t x) const { return (mark(x) & 3) >= 2; }
    bool shared_with_short(uint64_t x) const { return shared(x) && (mark(x) & shorts); }

private:
    static constexpr uint8_t shorts = 4;
    uint8_t mark(uint64_t x) const { return marks_[x & (marks_.size() - 1)]; }
    Array<uint8_t> marks_;
};

// The rarest elements of every item, in the common order. Items are known by their position in the
// list that is joined. What no other item could be met by is left out.
class Prefixes {
public:
    Prefixes(const Comparison& sets, Items items, unsigned threads)
        : sets_(sets), items_(items), starts_(items.size + 1, 0), middles_(items.size, 0) {
        for (size_t i = 0; i < items.size; ++i) {
            const int64_t size = sets.size(items[i]);
            starts_[i + 1] = starts_[i] + size - sets.threshold.least_with_any(size) + 1;
            middles_[i] = starts_[i] + size - sets.threshold.least_with_larger(size) + 1;
        }
        elements_.resize(static_cast<size_t>(starts_.back()));
        const Frequencies frequency(sets, items);
        parallel_workers(items.size, items_per_part, threads, [&] {
            return [&, ranked = Array<Ranked>()](size_t begin, size_t end) mutable {
                for (size_t i = begin; i < end; ++i) {
                    ranked.clear();
                    for (const uint64_t x : sets.elements(items[i])) {
                        ranked.push_back({frequency(x), x});
                    }
                    take_rarest(i, ranked);
                }
            };
        });
        drop_what_meets_nobody();
    }

    int64_t size(int32_t i) const { return sets_.size(items_[static_cast<size_t>(i)]); }

    // Enough to meet every similar set that is not larger.
    Hashes long_prefix(int32_t i) const {
        const size_t at = static_cast<size_t>(i);
        return {elements_.data() + starts_[at], static_cast<size_t>(starts_[at + 1] - starts_[at])};
    }
    // Enough to meet every similar set that is not smaller.
    Hashes short_prefix(int32_t i) const {
        const size_t at = static_cast<size_t>(i);
        return {elements_.data() + starts_[at], static_cast<size_t>(middles_[at] - starts_[at])};
    }
    // Whether the smaller of two sets is large enough for the larger one.
    bool sizes_fit(int32_t smaller, int32_t larger) const {
        return sets_.threshold.fits(size(smaller), size(larger));
    }
    // The overlap of two items, or -1 if they do not reach the threshold.
    int32_t compare(int32_t one, int32_t other) const {
        return sets_(items_[static_cast<size_t>(one)], items_[static_cast<size_t>(other)]);
    }
    int32_t count() const { return static_cast<int32_t>(items_.size); }

private:
    // Puts the short prefix first, then the rest of the long one; order within them is of no use.
    void take_rarest(size_t i, Array<Ranked>& ranked) {
        const auto long_end = ranked.begin() + (starts_[i + 1] - starts_[i]);
        const auto short_end = ranked.begin() + (middles_[i] - starts_[i]);
        std::nth_element(ranked.begin(), long_end - 1, ranked.end());
        std::nth_element(ranked.begin(), short_end - 1, long_end);
        std::transform(ranked.begin(), long_end, elements_.begin() + starts_[i],
                       [](const Ranked& each) { return each.element; });
    }
    // An element of a long prefix leads somewhere only if another item has it in its short prefix,
    // and one of a short prefix only if another has it in its long one.
    void drop_what_meets_nobody() {
        Occurrences occurrences(elements_.size());
        for (size_t i = 0; i < items_.size; ++i) {
            for (int64_t at = starts_[i]; at < starts_[i + 1]; ++at) {
                occurrences.add(elements_[static_cast<size_t>(at)], at < middles_[i]);
            }
        }
        int64_t out = 0;
        for (size_t i = 0; i < items_.size; ++i) {
            const int64_t begin = starts_[i], middle = middles_[i], end = starts_[i + 1];
            starts_[i] = out;
            for (int64_t at = begin; at < middle; ++at) {
                const uint64_t x = elements_[static_cast<size_t>(at)];
                if (occurrences.shared(x)) {
                    elements_[static_cast<size_t>(out++)] = x;
                }
            }
            middles_[i] = out;
            for (int64_t at = middle; at < end; ++at) {
                const uint64_t x = elements_[static_cast<size_t>(at)];
                if (occurrences.shared_with_short(x)) {
                    elements_[static_cast<size_t>(out++)] = x;
                }
            }
        }
        starts_.back() = out;
        elements_.resize(static_cast<size_t>(out));
        elements_.shrink_to_fit();
    }

    const Comparison& sets_;
    Items items_;
    Array<int64_t> starts_, middles_; // where items start, where their short prefixes end
    Array<uint64_t> elements_;
};

// From elements to the items that have them in a prefix; grows as items are added.
class Index {
public:
    Index() : table_(size_t{1} << 10, absent) {}

    void add(Hashes prefix, int32_t item) {
        for (const uint64_t x : prefix) {
            if (2 * (lists_.size() + 1) > table_.size()) {
                grow();
            }
            uint32_t& place = table_[find(x)];
            if (place == absent) {
                place = static_cast<uint32_t>(lists_.size());
                lists_.push_back({x, absent});
            }
            nodes_.push_back({item, lists_[place].head});
            lists_[place].head = static_cast<uint32_t>(nodes_.size() - 1);
        }
    }
    // Calls visit(item) for every item that was added with x.
    template <class Visit> void each(uint64_t x, Visit&& visit) const {
        const uint32_t place = table_[find(x)];
        if (place != absent) {
            for (uint32_t at = lists_[place].head; at != absent; at = nodes_[at].next) {
                visit(nodes_[at].item);
            }
        }
    }

private:
    static constexpr uint32_t absent = ~uint32_t{0};
    struct List {
        uint64_t element;
        uint32_t head;
    };
    struct Node {
        int32_t item;
        uint32_t next;
    };

    size_t find(uint64_t x) const {
        const size_t mask = table_.size() - 1;
        size_t at = x & mask;
        while (table_[at] != absent && lists_[table_[at]].element != x) {
            at = (at + 1) & mask;
        }
        return at;
    }
    void grow() {
        table_.assign(2 * table_.size(), absent);
        for (uint32_t place = 0; place < lists_.size(); ++place) {
            table_[find(lists_[place].element)] = place;
        }
    }

    Array<uint32_t> table_;
    Array<List> lists_;
    Array<Node> nodes_;
};

// Collects items, each once per round.
class Once {
public:
    explicit Once(size_t items) : seen_(items, 0) {}
    void start() {
        ++round_;
        found.clear();
    }
    // Returns whether the item is new in this round.
    bool add(int32_t item) {
        uint32_t& seen = seen_[static_cast<size_t>(item)];
        if (seen == round_) {
            return false;
        }
        seen = round_;
        found.push_back(item);
        return true;
    }
    Array<int32_t> found;

private:
    Array<uint32_t> seen_;
    uint32_t round_ = 0;
};

// One `Part` for each side an item may stand on (0 where there are no sides), so that a crowd on
// one side is not met by others on the same side.
template <class Part> class BySide {
public:
    explicit BySide(Bytes sides) : sides_(sides) {}

    Part& home(int32_t item) { return parts_[side(item)]; }
    template <class Visit> void each_part(Visit&& visit) {
        std::for_each(parts_.begin(), parts_.end(), visit);
    }
    // Calls visit(part) for every part whose items may be paired with this one.
    template <class Visit> void each_across(int32_t item, Visit&& visit) {
        for (uint8_t other = 0; other < parts_.size(); ++other) {
            if (sides_.size == 0 ? other == 0 : opposite(side(item), other)) {
                visit(parts_[other]);
            }
        }
    }

private:
    uint8_t side(int32_t item) const {
        return sides_.size == 0 ? uint8_t{0} : sides_[static_cast<size_t>(item)];
    }
    Bytes sides_;
    std::array<Part, 4> parts_;
};

// The items that were added so far, to be asked for those that may be similar to another.
class Pool {
public:
    Pool(const Prefixes& prefixes, Bytes sides)
        : prefixes_(prefixes), parts_(sides), once_(static_cast<size_t>(prefixes.count())) {}

    void add(int32_t item) {
        parts_.home(item).shorts.add(prefixes_.short_prefix(item), item);
        parts_.home(item).longs.add(prefixes_.long_prefix(item), item);
    }
    // Everything in the pool that may be similar to the item, in no particular order.
    Array<int32_t>& candidates(int32_t item) {
        once_.start();
        const int64_t size = prefixes_.size(item);
        parts_.each_across(item, [&](Part& part) {
            for (const uint64_t x : prefixes_.long_prefix(item)) {
                part.shorts.each(x, [&](int32_t other) {
                    if (prefixes_.size(other) <= size && prefixes_.sizes_fit(other, item)) {
                        once_.add(other);
                    }
                });
            }
            for (const uint64_t x : prefixes_.short_prefix(item)) {
                part.longs.each(x, [&](int32_t other) {
                    if (prefixes_.size(other) > size && prefixes_.sizes_fit(item, other)) {
                        once_.add(other);
                    }
                });
            }
        });
        return once_.found;
    }

private:
    struct Part {
        Index shorts, longs;
    };
    const Prefixes& prefixes_;
    BySide<Part> parts_;
    Once once_;
};

// The short prefixes of all items: postings sorted by element, and within it by component, so that
// a whole component can be passed over at once.
class Postings {
public:
    void add(Hashes prefix, int32_t component, int32_t item) {
        for (const uint64_t x : prefix) {
            postings_.push_back({x, component, item});
        }
    }
    // To be called once, when all have been added.
    void finish() {
        std::sort(postings_.begin(), postings_.end());
        for (uint32_t at = 0; at < postings_.size();) {
            uint32_t end = at;
            while (end < postings_.size() && postings_[end].element == postings_[at].element &&
                   postings_[end].component == postings_[at].component) {
                ++end;
            }
            const bool fresh = runs_.empty() || runs_.back().element != postings_[at].element;
            if (fresh) {
                first_run_.push_back(static_cast<uint32_t>(runs_.size()));
            }
            runs_.push_back({postings_[at].element, at, end});
            at = end;
        }
        first_run_.push_back(static_cast<uint32_t>(runs_.size()));
        size_t slots = 16;
        while (slots < 2 * first_run_.size()) {
            slots *= 2;
        }
        table_.assign(slots, absent);
        for (uint32_t list = 0; list + 1 < first_run_.size(); ++list) {
            table_[find(runs_[first_run_[list]].element)] = list;
        }
    }

    // For every component with items that have x: calls visit(item) for these until it is true.
    template <class Skip, class Visit> void each(uint64_t x, Skip&& skip, Visit&& visit) const {
        const uint32_t list = table_[find(x)];
        if (list == absent) {
            return;
        }
        for (uint32_t run = first_run_[list]; run < first_run_[list + 1]; ++run) {
            if (!skip(postings_[runs_[run].begin].component)) {
                for (uint32_t at = runs_[run].begin; at < runs_[run].end; ++at) {
                    if (visit(postings_[at].item)) {
                        break;
                    }
                }
            }
        }
    }

private:
    static constexpr uint32_t absent = ~uint32_t{0};
    struct Posting {
        uint64_t element;
        int32_t component, item;
        bool operator<(const Posting& other) const {
            return element != other.element       ? element < other.element
                   : component != other.component ? component < other.component
                                                  : item < other.item;
        }
    };
    struct Run {
        uint64_t element;
        uint32_t begin, end;
    };
    size_t find(uint64_t x) const {
        const size_t mask = table_.size() - 1;
        size_t at = x & mask;
        while (table_[at] != absent && runs_[first_run_[table_[at]]].element != x) {
            at = (at + 1) & mask;
        }
        return at;
    }

    Array<Posting> postings_;
    Array<Run> runs_;
    Array<uint32_t> first_run_, table_;
};

// The partners of every item, as one list after the other.
class Neighbours {
public:
    Neighbours(size_t items, Items left, Items right)
        : starts_(items + 1, 0), partners_(2 * left.size) {
        for (const Items& side : {left, right}) {
            for (const int32_t item : side) {
                ++starts_[static_cast<size_t>(item) + 1];
            }
        }
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        Array<size_t> next(starts_.begin(), starts_.end() - 1);
        for (size_t pair = 0; pair < left.size; ++pair) {
            partners_[next[static_cast<size_t>(left[pair])]++] = right[pair];
            partners_[next[static_cast<size_t>(right[pair])]++] = left[pair];
        }
    }
    template <class Visit> void each(int32_t item, Visit&& visit) const {
        const size_t at = static_cast<size_t>(item);
        for (size_t i = starts_[at]; i < starts_[at + 1]; ++i) {
            visit(partners_[i]);
        }
    }

private:
    Array<size_t> starts_;
    Array<int32_t> partners_;
};

template <class T> Span<const T> span(const Array<T>& values) {
    return {values.data(), values.size()};
}

// Those of all items that take part in a join, in a list of their own.
struct Joiners {
    Array<int32_t> items, place; // the list; and each item's place in it, or -1
    Array<uint8_t> sides;

    Joiners(Items all, Bytes all_sides, Items joined) : place(all.size, -1) {
        for (const int32_t member : joined) {
            const size_t at = static_cast<size_t>(member);
            place[at] = static_cast<int32_t>(items.size());
            items.push_back(all[at]);
            if (all_sides.size != 0) {
                sides.push_back(all_sides[at]);
            }
        }
    }
};

bool comes_before(const Prefixes& prefixes, int32_t one, int32_t other) {
    const int64_t a = prefixes.size(one), b = prefixes.size(other);
    return a != b ? a < b : one < other;
}

} // namespace

Joined join(Hashes hashes, Starts starts, Items sizes, Items items, Bytes sides, int64_t numerator,
            int64_t denominator, size_t limit, unsigned threads) {
    const Comparison sets{hashes, starts, sizes, {numerator, denominator}};
    const Prefixes prefixes(sets, items, threads);
    BySide<Index> shorts(sides);
    for (int32_t item = 0; item < prefixes.count(); ++item) {
        shorts.home(item).add(prefixes.short_prefix(item), item);
    }
    const size_t parts = (items.size + items_per_part - 1) / items_per_part;
    Array<Joined> found(parts);
    std::atomic<size_t> total{0};
    auto join_item = [&](int32_t item, Once& once, Joined& out) {
        once.start();
        shorts.each_across(item, [&](const Index& index) {
            for (const uint64_t x : prefixes.long_prefix(item)) {
                index.each(x, [&](int32_t other) {
                    if (comes_before(prefixes, other, item) && prefixes.sizes_fit(other, item)) {
                        once.add(other);
                    }
                });
            }
        });
        for (const int32_t other : once.found) {
            const int32_t common = prefixes.compare(item, other);
            if (common >= 0) {
                out.left.push_back(std::min(item, other));
                out.right.push_back(std::max(item, other));
                out.overlap.push_back(common);
            }
        }
    };
    parallel_workers(items.size, items_per_part, threads, [&] {
        return [&, once = Once(items.size)](size_t begin, size_t end) mutable {
            Joined& out = found[begin / items_per_part];
            for (size_t item = begin; item < end && total.load() <= limit; ++item) {
                const size_t before = out.left.size();
                join_item(static_cast<int32_t>(item), once, out);
                total += out.left.size() - before;
            }
        };
    });
    return {concatenate(found, &Joined::left), concatenate(found, &Joined::right),
            concatenate(found, &Joined::overlap)};
}

Pairs forest(Hashes hashes, Starts starts, Items sizes, Items items, Bytes sides, int64_t numerator,
             int64_t denominator, unsigned threads) {
    const Comparison sets{hashes, starts, sizes, {numerator, denominator}};
    const Prefixes prefixes(sets, items, threads);
    Array<int32_t> roots(items.size);
    std::iota(roots.begin(), roots.end(), 0);
    Components components({roots.data(), roots.size()});
    Pairs edges;
    auto connect = [&](int32_t one, int32_t other) {
        if (components.joined(one, other) || prefixes.compare(one, other) < 0) {
            return false;
        }
        components.join(one, other);
        edges.left.push_back(std::min(one, other));
        edges.right.push_back(std::max(one, other));
        return true;
    };
    // Near-copies first: an item that is similar to an earlier leader joins it and leads nobody, so
    // a crowd of them is settled with one comparison each.
    Pool leaders(prefixes, sides);
    for (int32_t item = 0; item < prefixes.count(); ++item) {
        bool follows = false;
        for (const int32_t leader : leaders.candidates(item)) {
            follows |= connect(leader, item);
        }
        if (!follows) {
            leaders.add(item);
        }
    }
    // Then whatever connects two components.
    BySide<Postings> postings(sides);
    for (int32_t item = 0; item < prefixes.count(); ++item) {
        postings.home(item).add(prefixes.short_prefix(item), components.root(item), item);
    }
    postings.each_part([](Postings& part) { part.finish(); });
    Once once(items.size);
    for (int32_t item = 0; item < prefixes.count(); ++item) {
        auto settled = [&](int32_t component) { return components.joined(component, item); };
        auto visit = [&](int32_t other) {
            return comes_before(prefixes, other, item) && prefixes.sizes_fit(other, item) &&
                   once.add(other) && connect(other, item);
        };
        once.start();
        postings.each_across(item, [&](const Postings& part) {
            for (const uint64_t x : prefixes.long_prefix(item)) {
                part.each(x, settled, visit);
            }
        });
    }
    return edges;
}

Array<int32_t> greedy(Hashes hashes, Starts starts, Items sizes, Items items, Bytes sides,
                      Items order, Bytes protect, Items joined, Items left, Items right,
                      int64_t numerator, int64_t denominator, unsigned threads) {
    const Comparison sets{hashes, starts, sizes, {numerator, denominator}};
    const Neighbours neighbours(items.size, left, right);
    const Joiners joiners(items, sides, joined);
    const Prefixes prefixes(sets, span(joiners.items), threads);
    Pool pool(prefixes, span(joiners.sides));
    Array<int32_t> rank(items.size), witnesses(items.size, -1);
    for (size_t at = 0; at < order.size; ++at) {
        rank[static_cast<size_t>(order[at])] = static_cast<int32_t>(at);
    }
    auto before = [&](int32_t one, int32_t other) {
        return rank[static_cast<size_t>(one)] < rank[static_cast<size_t>(other)];
    };
    Array<uint8_t> kept(items.size, 0);
    for (const int32_t item : order) {
        const size_t at = static_cast<size_t>(item);
        const int32_t place = joiners.place[at];
        int32_t witness = -1;
        auto better = [&](int32_t other) { return witness < 0 || before(other, witness); };
        neighbours.each(item, [&](int32_t other) {
            if (kept[static_cast<size_t>(other)] && better(other)) {
                witness = other;
            }
        });
        if (place >= 0) {
            auto& candidates = pool.candidates(place);
            std::sort(candidates.begin(), candidates.end(), [&](int32_t a, int32_t b) {
                return before(joined[static_cast<size_t>(a)], joined[static_cast<size_t>(b)]);
            });
            for (const int32_t candidate : candidates) {
                const int32_t other = joined[static_cast<size_t>(candidate)];
                if (!better(other)) {
                    break;
                }
                if (prefixes.compare(place, candidate) >= 0) {
                    witness = other;
                    break;
                }
            }
        }
        witnesses[at] = witness;
        if (witness < 0 || protect[at]) {
            kept[at] = 1;
            if (place >= 0) {
                pool.add(place);
            }
        }
    }
    return witnesses;
}

} // namespace lookalike
