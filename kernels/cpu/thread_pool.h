// SPDX-License-Identifier: GPL-3.0-or-later
// Fork-join pool for the maths. One region at a time; workers spin briefly, then sleep on an atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace kvasir::kernels {

class ThreadPool {
 public:
    /// n_threads >= 1, the calling thread included. Throws std::bad_alloc when the system gives no more threads.
    explicit ThreadPool(int n_threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const;

    /// Calls fn(item, thread) once for each item in [0, n_items), in blocks of `grain` items: each thread begins with
    /// its own contiguous share and helps the others when it is through; returns when all are done. Which thread runs
    /// an item is not fixed, so an item's result must not depend on it. Not re-entrant. What an item throws is thrown
    /// here, the first of them, when the other blocks are through; the rest of its own block is left out.
    template <class F>
    void for_each(int n_items, int grain, F&& fn) {
        auto call = [](void* context, int begin, int end, int thread) {
            F& body = *static_cast<std::remove_reference_t<F>*>(context);
            for (int i = begin; i < end; ++i)
                body(i, thread);
        };
        run(n_items, grain, call, const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// As for_each, but fn(begin, end, thread) gets whole blocks.
    template <class F>
    void for_blocks(int n_items, int grain, F&& fn) {
        auto call = [](void* context, int begin, int end, int thread) {
            (*static_cast<std::remove_reference_t<F>*>(context))(begin, end, thread);
        };
        run(n_items, grain, call, const_cast<void*>(static_cast<const void*>(&fn)));
    }

 private:
    using Call = void (*)(void* context, int begin, int end, int thread);
    void run(int n_items, int grain, Call call, void* context);
    void stop();

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kvasir::kernels
