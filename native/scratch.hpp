// Scratch memory: where the kernels' large arrays lie, those they return included.
//
// A large block is mapped by itself, so that it is given back at once when it is freed. It is
// anonymous memory while all such blocks together stay within an allowance; beyond it, and if there
// is a directory for it, it is a file without a name there, which the system may write back and
// drop from memory as it likes.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace lookalike {
namespace scratch {

// Blocks of fewer bytes are left to operator new.
constexpr size_t large = size_t{1} << 20;

struct Use {
    size_t anonymous, in_files; // bytes of large blocks, rounded up to what is mapped
};

// A file for scratch memory could not be had: `code` is an errno.
struct Failure {
    int code;
    std::string directory;
};

// Where blocks lie that are allocated from now on. Without a directory (""), all are anonymous.
void configure(std::string directory, size_t allowance);
Use in_use();

// Large blocks are full of zeros.
void* allocate(size_t bytes);
void deallocate(void* block, size_t bytes) noexcept;

} // namespace scratch

template <class T> struct Scratch {
    using value_type = T;

    Scratch() = default;
    template <class U> Scratch(const Scratch<U>&) {}

    T* allocate(size_t n) {
        if (n > static_cast<size_t>(PTRDIFF_MAX) / sizeof(T)) {
            throw std::bad_alloc();
        }
        return static_cast<T*>(scratch::allocate(n * sizeof(T)));
    }
    void deallocate(T* block, size_t n) noexcept { scratch::deallocate(block, n * sizeof(T)); }

    // Elements without a value are left as they are: most arrays are written in full, and clearing
    // them first would touch all their memory once more.
    template <class U> void construct(U* place) { ::new (static_cast<void*>(place)) U; }
    template <class U, class... Args> void construct(U* place, Args&&... args) {
        ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }

    template <class U> bool operator==(const Scratch<U>&) const { return true; }
    template <class U> bool operator!=(const Scratch<U>&) const { return false; }
};

template <class T> using Array = std::vector<T, Scratch<T>>;

// One column of all parts, one part after the other; each is freed as soon as it is copied.
template <class Part, class T> Array<T> concatenate(Array<Part>& parts, Array<T> Part::* of) {
    size_t size = 0;
    for (const Part& part : parts) {
        size += (part.*of).size();
    }
    Array<T> all;
    all.reserve(size);
    for (Part& part : parts) {
        all.insert(all.end(), (part.*of).begin(), (part.*of).end());
        Array<T>().swap(part.*of);
    }
    return all;
}

} // namespace lookalike
