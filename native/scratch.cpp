#include "scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_set>

namespace lookalike::scratch {
namespace {

// A fresh block faults in page by page; by pages of 2 MB that costs a fifth.
constexpr size_t huge_page = size_t{1} << 21;

// What is mapped for a block: whole huge pages, as only such blocks are aligned to them.
size_t mapped(size_t bytes) {
    return bytes < huge_page ? bytes : (bytes + huge_page - 1) / huge_page * huge_page;
}

struct State {
    std::mutex mutex;
    std::string directory;
    size_t allowance = SIZE_MAX;
    Use use{0, 0};
    std::unordered_set<void*> in_files; // which blocks are files
};

// Never destroyed: arrays may outlive everything else of the module.
State& state() {
    static State& only = *new State;
    return only;
}

class File {
public:
    explicit File(const std::string& directory) : directory_(directory), number_(open_unnamed()) {
        if (number_ < 0) {
            throw Failure{errno, directory_};
        }
    }
    File(const File&) = delete;
    ~File() { ::close(number_); }

    // Maps the file with all its blocks reserved: a full disk is an error here, and not a signal
    // when a page is touched.
    void* map(size_t bytes) const {
        if (const int code = reserve(static_cast<off_t>(bytes))) {
            throw Failure{code, directory_};
        }
        void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, number_, 0);
        if (block == MAP_FAILED) {
            throw Failure{errno, directory_};
        }
        return block;
    }

private:
    int open_unnamed() const {
#ifdef O_TMPFILE
        const int number = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (number >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
            return number;
        }
#endif
        std::string path = directory_ + "/scratch-XXXXXX";
        const int named = ::mkstemp(path.data());
        if (named >= 0) {
            ::unlink(path.c_str());
        }
        return named;
    }
    int reserve(off_t bytes) const {
#ifdef __APPLE__
        fstore_t wanted{F_ALLOCATEALL, F_PEOFPOSMODE, 0, bytes, 0};
        return ::fcntl(number_, F_PREALLOCATE, &wanted) < 0 || ::ftruncate(number_, bytes) < 0
                   ? errno
                   : 0;
#else
        int code;
        while ((code = ::posix_fallocate(number_, 0, bytes)) == EINTR) {
        }
        return code;
#endif
    }

    const std::string& directory_;
    int number_;
};

void* map_anonymous(size_t bytes) {
    void* const block =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    ::madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

// Counts a block before it is there, so that two threads cannot share one piece of the allowance;
// returns whether it is to be anonymous, and otherwise the directory.
bool claim(size_t bytes, std::string& directory) {
    State& its = state();
    const std::lock_guard<std::mutex> lock(its.mutex);
    const bool fits = its.use.anonymous + bytes <= its.allowance;
    if (fits || its.directory.empty()) {
        its.use.anonymous += bytes;
        return true;
    }
    its.use.in_files += bytes;
    directory = its.directory;
    return false;
}

void give_back(size_t bytes, bool anonymous) {
    State& its = state();
    const std::lock_guard<std::mutex> lock(its.mutex);
    (anonymous ? its.use.anonymous : its.use.in_files) -= bytes;
}

void* map_file(const std::string& directory, size_t bytes) {
    void* const block = File(directory).map(bytes);
    State& its = state();
    const std::lock_guard<std::mutex> lock(its.mutex);
    its.in_files.insert(block);
    return block;
}

// Lets the heap give large blocks back at once. By itself glibc keeps blocks of up to 32 MB after
// the first of them was freed, and a reader's and a writer's buffers add up to hundreds of
// megabytes.
void give_back_freed_memory() {
#ifdef __GLIBC__
    ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

} // namespace

void configure(std::string directory, size_t allowance) {
    give_back_freed_memory();
    State& its = state();
    const std::lock_guard<std::mutex> lock(its.mutex);
    its.directory = std::move(directory);
    its.allowance = allowance;
}

Use in_use() {
    State& its = state();
    const std::lock_guard<std::mutex> lock(its.mutex);
    return its.use;
}

void* allocate(size_t bytes) {
    if (bytes < large) {
        return ::operator new(bytes);
    }
    bytes = mapped(bytes);
    std::string directory;
    const bool anonymous = claim(bytes, directory);
    try {
        return anonymous ? map_anonymous(bytes) : map_file(directory, bytes);
    } catch (...) {
        give_back(bytes, anonymous);
        throw;
    }
}

void deallocate(void* block, size_t bytes) noexcept {
    if (bytes < large) {
        ::operator delete(block);
        return;
    }
    bytes = mapped(bytes);
    // Forgotten before it is unmapped: another thread may get the same place at once.
    State& its = state();
    {
        const std::lock_guard<std::mutex> lock(its.mutex);
        const bool anonymous = its.in_files.erase(block) == 0;
        (anonymous ? its.use.anonymous : its.use.in_files) -= bytes;
    }
    ::munmap(block, bytes);
}

} // namespace lookalike::scratch
