// Splits a range over threads. Which thread does which part is left open, so the parts must be
// independent and each must write to its own place: then the number of threads cannot be seen.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lookalike {

// Every thread makes a worker of its own, with its own scratch space, and calls it as
// worker(begin, end) for parts of [0, n) of `grain` each. The first exception of any thread is
// rethrown here.
template <class Make> void parallel_workers(size_t n, size_t grain, unsigned threads, Make&& make) {
    grain = std::max<size_t>(grain, 1);
    const size_t parts = (n + grain - 1) / grain;
    std::atomic<size_t> next{0};
    std::exception_ptr failure;
    std::mutex failing;
    auto run = [&] {
        try {
            auto&& work = make();
            for (size_t part; (part = next.fetch_add(1)) < parts;) {
                work(part * grain, std::min(n, (part + 1) * grain));
            }
        } catch (...) {
            const std::lock_guard<std::mutex> lock(failing);
            failure = std::current_exception();
            next = parts;
        }
    };
    const size_t helpers = std::min<size_t>(std::max(threads, 1u), std::max<size_t>(parts, 1)) - 1;
    std::vector<std::thread> pool;
    pool.reserve(helpers);
    for (size_t i = 0; i < helpers; ++i) {
        pool.emplace_back(run);
    }
    run();
    for (auto& thread : pool) {
        thread.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

// The same with one worker for all threads.
template <class Work> void parallel(size_t n, size_t grain, unsigned threads, Work&& work) {
    parallel_workers(n, grain, threads, [&]() -> Work& { return work; });
}

} // namespace lookalike
