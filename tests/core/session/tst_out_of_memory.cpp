// SPDX-License-Identifier: GPL-3.0-or-later
// The 1st, 2nd, ... nth allocation of a load and of a run fails: each ends in an error that speaks of memory or, where
// somebody could do without, in success; nothing is left behind, and what was there before goes on. Small numbers are
// all taken, larger ones in growing steps; KVASIR_ALLOCATIONS=all takes every one.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/base/guard_memory.h"
#include "core/session/engine.h"
#include "core/session/run_fixture.h"
#include "kernels/cpu/huge_arena.h"

namespace {

std::atomic<long> before_failure{-1};  ///< allocations that still succeed; -1: all do
std::atomic<bool> failed{false};
std::atomic<long> n_live{0};  ///< allocations not freed

bool fails() {
    if (before_failure.load(std::memory_order_relaxed) < 0 || before_failure.fetch_sub(1) != 0) return false;
    return failed = true;
}

void* take(std::size_t n, std::size_t alignment) {
    void* p = nullptr;
    if (fails() || posix_memalign(&p, std::max(alignment, sizeof(void*)), n) != 0) throw std::bad_alloc();
    ++n_live;
    return p;
}

void give_back(void* p) {
    if (p) --n_live;
    std::free(p);
}

}  // namespace

void* operator new(std::size_t n) {
    return take(n, alignof(std::max_align_t));
}
void* operator new(std::size_t n, std::align_val_t alignment) {
    return take(n, std::size_t(alignment));
}
void operator delete(void* p) noexcept {
    give_back(p);
}
void operator delete(void* p, std::size_t) noexcept {
    give_back(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    give_back(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    give_back(p);
}

// Weights and caches come from the arena, which asks for address space without reserving memory.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* mmap(void* at, size_t n, int protection, int flags, int file, off_t offset) noexcept {
    if ((flags & MAP_NORESERVE) && fails()) return MAP_FAILED;
    return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, protection, flags, file, offset));
}
#endif

using namespace kvasir;
using namespace kvasir::test;

namespace {

const std::string kPath = source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf");
const std::string kOther = source_path("tests/golden/models/gguf/llama-gqa-F16.gguf");

/// Calls attempt() with the nth allocation failing, for ascending n, until one comes through undisturbed.
template <class F>
void with_each_failure(F&& attempt) {
    const bool all = qgetenv("KVASIR_ALLOCATIONS") == "all";
    bool disturbed = true;
    for (long n = 0; disturbed; n += all ? 1 : 1 + n / 12) {
        failed = false;
        before_failure = n;
        attempt();
        before_failure = -1;
        disturbed = failed;
        if (QTest::currentTestFailed()) qFatal("with allocation %ld failing", n);
    }
}

Experiment short_run() {
    Experiment e = experiment({"fp16", "quanto:4,group=16", "kivi:2,group=16", "hqq:3,group=16", "fp8", "tq:4"}, 6);
    e.noise_floor = true;
    return e;
}

}  // namespace

class TestOutOfMemory : public QObject {
    Q_OBJECT

    /// What a load or a run holds when it is gone must be nothing.
    struct Balance {
        long live = n_live;
        size_t weights = kernels::weight_arena().bytes_in_use(), caches = kernels::cache_arena().bytes_in_use();
        friend bool operator==(const Balance&, const Balance&) = default;
    };

 private slots:
    void of_a_load() {
        bool in_memory = false, counted = false;
        const auto attempt = [&] {
            const Balance before;
            {
                const auto model = Model::load(kPath, {}, {}, WeightsAs::as_is, 2);
                before_failure = -1;
                QVERIFY(model ? !failed : model.error().code == ErrorCode::memory);
                in_memory = in_memory || !model;
            }
            const Balance after;
            if (counted)
                QVERIFY2(after == before, qPrintable(QString("%1 allocations, %2 bytes of weights are left")
                                                         .arg(after.live - before.live)
                                                         .arg(after.weights - before.weights)));
        };
        attempt();  // what is made once in a program's life, errors and the test's own words included
        failed = true, before_failure = 0;
        attempt();
        counted = true;
        with_each_failure(attempt);
        QVERIFY(in_memory);
    }

    void of_a_run() {
        const auto model = load(kPath);
        const Experiment e = short_run();
        const auto once = [&]() -> Status {
            auto run = Run::create(model, e);
            if (!run) return run.error();
            const auto& lanes = (*run)->info().lanes;
            for (const auto& lane : lanes)
                if (lane.failed) return lane.error;
            RunModel measured;
            const auto done = guard_memory("", "", [&] { return run_to_end(**run, *model, measured); });
            if (!done) return done.error();
            for (int i = 0; i < int(lanes.size()); ++i)
                if (!(*run)->lane_error(i).empty()) return Error{ErrorCode::memory, (*run)->lane_error(i), "", "", ""};
            return {};
        };
        const Status whole = once();
        QVERIFY2(whole.ok(), whole ? "" : whole.error().message().c_str());
        const Balance before;
        bool in_memory = false;
        with_each_failure([&] {
            {
                const Status done = once();
                before_failure = -1;
                QVERIFY(done || done.error().code == ErrorCode::memory);
                in_memory = in_memory || !done;
            }
            QVERIFY(Balance().caches == before.caches && Balance().weights == before.weights);
        });
        QVERIFY(in_memory);
        QVERIFY(once().ok());
    }

    void an_engine_goes_on() {
        Engine engine;
        engine.load_model(kPath, 2);
        engine.wait_until_idle();
        const auto model = engine.model();
        QVERIFY(model);
        with_each_failure([&] {
            try {
                engine.load_model(kOther, 2);
            } catch (const std::bad_alloc&) {  // the command itself: nothing has begun
                return;
            }
            engine.wait_until_idle();
            before_failure = -1;
            if (!failed) return;
            const EngineStatus status = engine.status();
            QVERIFY(status.state == EngineState::failed && status.error.code == ErrorCode::memory);
            QCOMPARE(engine.model(), model);
        });
        const auto other = engine.model();
        QVERIFY(other && other != model);
        const Experiment e = short_run();
        with_each_failure([&] {
            try {
                engine.start(e);
            } catch (const std::bad_alloc&) {
                return;
            }
            engine.wait_until_idle();
            before_failure = -1;
            const EngineStatus status = engine.status();
            QVERIFY2(status.state == EngineState::finished ||
                         (status.state == EngineState::failed && status.error.code == ErrorCode::memory),
                     status.error.message().c_str());
            QCOMPARE(engine.model(), other);
            (void)engine.drain();
        });
        QCOMPARE(engine.status().state, EngineState::finished);
        QCOMPARE(engine.status().n_done, e.n_tokens);
    }
};

QTEST_GUILESS_MAIN(TestOutOfMemory)
#include "tst_out_of_memory.moc"
