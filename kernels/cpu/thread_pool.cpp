// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace kvasir::kernels {

namespace {

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// About 50 us, three wake-ups of a sleeping thread: longer than the pause between two regions of a step.
constexpr int kSpins = 2000;
// With more threads than cores a spinning thread keeps another from working.
constexpr int kSpinsCrowded = 20;

/// Most blocks of a region: a ticket has 16 bits for each end.
constexpr int kMostBlocks = 0xffff;

// A part's ticket: the region's number and the blocks nobody has claimed yet.
struct Ticket {
    uint32_t region;
    uint16_t begin, end;

    static Ticket of(uint64_t bits) { return {uint32_t(bits >> 32), uint16_t(bits >> 16), uint16_t(bits)}; }
    uint64_t bits() const { return uint64_t(region) << 32 | uint64_t(begin) << 16 | end; }
};

}  // namespace

// Blocks of items are dealt to the threads as one contiguous part each: what a thread reads follows in memory, so that
// what it fetches ahead is its own. A thread takes its part from the front; one that has finished takes from the ends
// of the others'. Blocks are claimed by compare-exchange on the part's ticket, so a late thread either gets a block of
// the region whose fields it has read, or nothing; the caller need not wait for threads that found no work.
//
// Why the relaxed reads of the fields are safe: the caller writes them only after every item of the region before was
// claimed and done. A thread that read fields and then claims with an unchanged ticket therefore read those of its
// region.
struct ThreadPool::State {
    struct alignas(64) Part {
        std::atomic<uint64_t> ticket{0};
    };
    std::vector<Part> parts;                     // one per thread
    alignas(64) std::atomic<uint32_t> done{0};   // items finished in this region; the caller waits on it
    alignas(64) std::atomic<uint32_t> epoch{0};  // counts regions; idle workers wait on it
    std::atomic<bool> stop{false};
    std::atomic<int> n_items{0}, grain{1};
    std::atomic<Call> call{nullptr};
    std::atomic<void*> context{nullptr};
    int spins = kSpins;
    uint32_t region = 0;  // the caller's own count
    std::mutex failure_mutex;
    std::exception_ptr failure;  // the region's first; guarded by failure_mutex while it runs
    std::vector<std::thread> workers;

    explicit State(int n_threads) : parts(size_t(n_threads)) {}

    void work(int thread) {
        const int n_parts = int(parts.size());
        for (int i = 0; i < n_parts; ++i) {
            const int owner = thread + i < n_parts ? thread + i : thread + i - n_parts;
            take_from(parts[size_t(owner)].ticket, thread, owner == thread);
        }
    }

    void take_from(std::atomic<uint64_t>& ticket, int thread, bool own) {
        uint64_t seen = ticket.load(std::memory_order_acquire);
        for (Ticket left = Ticket::of(seen); left.begin < left.end; left = Ticket::of(seen)) {
            const int total = n_items.load(std::memory_order_relaxed), size = grain.load(std::memory_order_relaxed);
            const Call body = call.load(std::memory_order_relaxed);
            void* const argument = context.load(std::memory_order_relaxed);
            const int begin = (own ? left.begin++ : --left.end) * size, end = std::min(begin + size, total);
            if (!ticket.compare_exchange_weak(seen, left.bits(), std::memory_order_acq_rel, std::memory_order_acquire))
                continue;
            try {
                body(argument, begin, end, thread);
            } catch (...) {
                keep(std::current_exception());
            }
            const uint32_t finished =
                done.fetch_add(uint32_t(end - begin), std::memory_order_acq_rel) + uint32_t(end - begin);
            if (finished == uint32_t(total)) done.notify_one();
            seen = ticket.load(std::memory_order_acquire);
        }
    }

    void keep(std::exception_ptr thrown) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::move(thrown);
    }

    void serve(int thread) {
        uint32_t known = 0;
        while (true) {
            for (int i = 0; i < spins && epoch.load(std::memory_order_relaxed) == known; ++i)
                pause_cpu();
            epoch.wait(known, std::memory_order_acquire);
            known = epoch.load(std::memory_order_acquire);
            if (stop.load(std::memory_order_relaxed)) return;
            work(thread);
        }
    }

    void wait_for(uint32_t total) {
        for (int i = 0; i < spins; ++i) {
            if (done.load(std::memory_order_acquire) == total) return;
            pause_cpu();
        }
        uint32_t value;
        while ((value = done.load(std::memory_order_acquire)) != total)
            done.wait(value, std::memory_order_acquire);
    }
};

ThreadPool::ThreadPool(int n_threads) : state_(std::make_unique<State>(std::max(n_threads, 1))) {
    const unsigned cores = std::thread::hardware_concurrency();
    if (cores != 0 && n_threads > int(cores)) state_->spins = kSpinsCrowded;
    state_->workers.reserve(size_t(std::max(n_threads - 1, 0)));
    try {
        for (int i = 1; i < n_threads; ++i)
            state_->workers.emplace_back([s = state_.get(), i] { s->serve(i); });
    } catch (const std::system_error&) {  // no memory for a stack, or a limit on threads
        stop();
        throw std::bad_alloc();
    } catch (...) {
        stop();
        throw;
    }
}

ThreadPool::~ThreadPool() {
    stop();
}

void ThreadPool::stop() {
    state_->stop.store(true, std::memory_order_relaxed);
    state_->epoch.fetch_add(1);
    state_->epoch.notify_all();
    for (std::thread& worker : state_->workers)
        worker.join();
}

int ThreadPool::size() const {
    return int(state_->workers.size()) + 1;
}

void ThreadPool::run(int n_items, int grain, Call call, void* context) {
    if (n_items <= 0) return;
    grain = std::max({grain, 1, (n_items - 1) / kMostBlocks + 1});
    State& s = *state_;
    if (s.workers.empty() || n_items <= grain) {
        for (int begin = 0; begin < n_items; begin += std::min(grain, n_items - begin))
            call(context, begin, begin + std::min(grain, n_items - begin), 0);
        return;
    }
    s.done.store(0, std::memory_order_relaxed);
    s.n_items.store(n_items, std::memory_order_relaxed);
    s.grain.store(grain, std::memory_order_relaxed);
    s.call.store(call, std::memory_order_relaxed);
    s.context.store(context, std::memory_order_relaxed);
    ++s.region;
    const int n_blocks = (n_items - 1) / grain + 1, n_parts = int(s.parts.size());
    for (int i = 0; i < n_parts; ++i) {
        const auto first_of = [&](int part) { return uint16_t(int64_t(n_blocks) * part / n_parts); };
        s.parts[size_t(i)].ticket.store(Ticket{s.region, first_of(i), first_of(i + 1)}.bits(),
                                        std::memory_order_release);
    }
    s.epoch.fetch_add(1);  // sequentially consistent: a worker about to sleep sees it or is seen by notify_all
    s.epoch.notify_all();
    s.work(0);
    s.wait_for(uint32_t(n_items));
    if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

}  // namespace kvasir::kernels
