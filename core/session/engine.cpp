// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/guard_memory.h"
#include "core/session/run.h"

namespace kvasir {
namespace {

using Clock = std::chrono::steady_clock;
// A distribution is heavy: at most 8 a second while running, and so few that they take 2 % of the time.
constexpr auto kFrameInterval = std::chrono::milliseconds(120);
constexpr int kFrameShare = 50;

}  // namespace

struct Engine::Impl {
    // ---- commands, guarded by mutex; `wake` is signalled on every change
    mutable std::mutex mutex;
    std::condition_variable wake, idle;
    std::optional<std::string> load_path;
    int load_threads = 0;
    std::optional<Experiment> next_experiment;
    std::optional<DistributionRequest> wanted;
    std::shared_ptr<RunObserver> next_observer;
    bool quit = false, paused = false, pause_after_token = false, busy = false, new_request = false;
    bool no_floor = false;  ///< nobody wants the noise floor of the run in progress any more
    std::atomic<bool> stop_run{false}, stop_load{false};

    // ---- results, guarded by mutex
    EngineStatus status;
    std::shared_ptr<const Model> model;
    std::shared_ptr<const RunInfo> info;
    RunBegun begun;  ///< not taken yet
    RunLog log;
    Mailbox<DistributionFrame> frames;

    // ---- the worker's own
    std::unique_ptr<Run> run;
    std::shared_ptr<RunObserver> observer;  ///< of the run in progress
    uint64_t frame_serial = 0;
    Clock::time_point next_frame{};
    Clock::duration stood_still{};  ///< of the run's time: pauses, the noise floor
    bool over = false;              ///< the run takes no more tokens
    /// Of the job that runs out of it: there is none for its words then. While status.error has them, they are here no
    /// more, until the next job begins.
    Error out_of_memory{ErrorCode::memory, "out of memory", "", "the caches and the model do not fit",
                        "Use fewer lanes, a shorter text or a smaller model."};
    /// Of a run without one: the reason why the last one did not load, where one was asked for.
    Error no_model{ErrorCode::input, "cannot run", "", "no model is open", "Open a GGUF file first."};
    std::thread worker;

    template <class F>
    void update(F&& change) {
        const std::scoped_lock lock(mutex);
        change(status);
    }

    /// What a command changes; the worker looks at it at once.
    template <class F>
    void command(F&& change) {
        {
            const std::scoped_lock lock(mutex);
            change();
        }
        wake.notify_all();
    }

    void work();
    /// Memory that runs out ends the job, not the program.
    template <class F>
    void guarded(F&& job) {
        take_back_words();
        guard_memory(job, [&] {
            run.reset();
            finish(EngineState::failed, std::move(out_of_memory));
        });
    }
    void take_back_words();
    void load(const std::string& path, int n_threads);
    void carry_out(const Experiment& experiment);
    bool wait_or_stop();
    bool end_run();
    bool give_up_floor();
    Status measure_floor();
    void record(RunRecords&& records);
    void publish(RunRecords&& records, Clock::time_point start);
    void serve_distribution(bool at_once);
    void finish(EngineState state, Error error = {});
};

Engine::Engine() : impl_(std::make_unique<Impl>()) {
    impl_->worker = start_thread([this] { impl_->work(); });
}

Engine::~Engine() {
    impl_->command([&] {
        impl_->quit = true;
        impl_->stop_run = impl_->stop_load = true;
    });
    impl_->worker.join();
}

void Engine::Impl::work() {
    std::unique_lock lock(mutex);
    while (!quit) {
        if (load_path) {
            const std::string path = *std::exchange(load_path, std::nullopt);
            const int n_threads = load_threads;
            stop_load = false;
            busy = true;
            lock.unlock();
            guarded([&] { load(path, n_threads); });
            lock.lock();
        } else if (next_experiment) {
            const Experiment experiment = *std::exchange(next_experiment, std::nullopt);
            stop_run = no_floor = false;  // whether it begins with a pause was said when it was asked for
            busy = true;
            lock.unlock();
            guarded([&] { carry_out(experiment); });
            lock.lock();
        } else if (new_request) {
            new_request = false;
            lock.unlock();
            serve_distribution(true);
            lock.lock();
        } else {
            busy = false;
            idle.notify_all();
            wake.wait(lock);
        }
    }
}

void Engine::Impl::load(const std::string& path, int n_threads) {
    update([&](EngineStatus& s) {
        s.state = EngineState::loading;
        s.progress = 0;
        s.what = "opening the file";
    });
    auto loaded = Model::load(
        path,
        [&](double share, const char* what) { update([&](EngineStatus& s) { s.progress = share, s.what = what; }); },
        [&] { return stop_load.load(); }, WeightsAs::as_is, n_threads);
    if (loaded) {
        run.reset();  // the old model's caches say nothing about the new one
        const std::scoped_lock lock(mutex);
        model = *loaded;
        status.state = EngineState::idle;
    } else if (loaded.error().code == ErrorCode::interrupted) {
        update([](EngineStatus& s) { s.state = EngineState::idle; });
    } else {
        no_model = loaded.error();
        finish(EngineState::failed, loaded.error());
    }
}

void Engine::Impl::take_back_words() {
    const std::scoped_lock lock(mutex);
    if (out_of_memory.what.empty()) out_of_memory = std::move(status.error);
}

/// Allocates nothing: it is how a job ends that ran out of memory.
void Engine::Impl::finish(EngineState state, Error error) {
    if (const auto told = std::exchange(observer, nullptr))
        told->ended(state == EngineState::finished  ? "finished"
                    : state == EngineState::stopped ? "stopped"
                                                    : "failed",
                    error);
    update([&](EngineStatus& s) {
        s.state = state;
        s.error = std::move(error);
        s.n_failures += state == EngineState::failed;
        s.what.clear();
    });
}

/// Asked before each layer: blocks while paused (answering the distribution view meanwhile); true means stop.
bool Engine::Impl::wait_or_stop() {
    if (stop_run) return true;
    std::unique_lock lock(mutex);
    if (!paused) return false;
    const Clock::time_point start = Clock::now();
    const EngineState before = status.state;
    while (paused && !stop_run) {
        status.state = EngineState::paused;
        if (std::exchange(new_request, false)) {
            lock.unlock();
            serve_distribution(true);
            lock.lock();
            continue;
        }
        wake.wait(lock);
    }
    status.state = before;
    stood_still += Clock::now() - start;
    return stop_run;
}

/// No token comes any more, and the stop that said so is answered: what remains is the noise floor. True when not even
/// that is wanted.
bool Engine::Impl::end_run() {
    const std::scoped_lock lock(mutex);
    if (quit || load_path || next_experiment || no_floor) return true;
    over = true;
    stop_run = paused = false;
    status.state = EngineState::noise_floor;
    return false;
}

/// The first stop ends the run, a further one the measurement of its noise floor.
bool Engine::Impl::give_up_floor() {
    return wait_or_stop() && (over || end_run());
}

/// The run's clock stands still meanwhile.
Status Engine::Impl::measure_floor() {
    const Clock::time_point start = Clock::now();
    const Clock::duration before = stood_still;
    RunRecords records;
    update([](EngineStatus& s) { s.what = "measuring the noise floor", s.floor_progress = 0; });
    const int n_layers = std::max(1, run->floor_layers());
    int n_asked = 0;
    const Status done = run->measure_floor(records.floors, [&] {
        ++n_asked;
        update([&](EngineStatus& s) { s.floor_progress = std::min(1.0, double(n_asked) / n_layers); });
        return give_up_floor();
    });
    update([](EngineStatus& s) { s.what.clear(), s.floor_progress = -1; });
    record(std::move(records));
    stood_still = before + (Clock::now() - start);
    return done;
}

void Engine::Impl::record(RunRecords&& records) {
    records.stops = run->take_stops();
    if (observer) observer->measured(records);
    log.append(std::move(records));
}

void Engine::Impl::publish(RunRecords&& records, Clock::time_point start) {
    record(std::move(records));
    update([&](EngineStatus& s) {
        s.n_done = run->n_done();
        s.progress = double(s.n_done) / double(std::max(1, s.n_planned));
        s.elapsed_s = std::chrono::duration<double>(Clock::now() - start - stood_still).count();
        s.coverage.clear();
        s.lane_errors.clear();
        for (size_t i = 0; i < run->info().lanes.size(); ++i) {
            const KvCache* cache = run->cache(int(i));
            s.coverage.push_back(cache ? cache->coverage() : Coverage{});
            s.lane_errors.push_back(run->lane_error(int(i)));
        }
    });
}

void Engine::Impl::serve_distribution(bool at_once) {
    std::optional<DistributionRequest> request;
    {
        const std::scoped_lock lock(mutex);
        request = wanted;
    }
    const Clock::time_point start = Clock::now();
    if (!request || !run || (!at_once && (start < next_frame || frames.full()))) return;
    const RunInfo& run_info = run->info();
    if (request->lane < 0 || size_t(request->lane) >= run_info.lanes.size()) return;
    const KvCache *lane = run->cache(request->lane), *reference = run->cache(run_info.experiment.reference);
    if (!lane || !reference || request->layer < 0 || request->layer >= lane->shape().n_layers ||
        request->kv_head >= lane->shape().n_kv_heads || lane->n_tokens(request->layer) == 0)
        return;
    const auto draw = [&] {
        DistributionFrame frame = build_distribution(*request, *lane, *reference);
        frame.serial = ++frame_serial;
        frames.put(std::make_shared<const DistributionFrame>(std::move(frame)));
    };
    guard_memory(draw, [] {});  // a picture less; the run goes on
    const Clock::time_point end = Clock::now();
    next_frame = end + std::max<Clock::duration>(kFrameInterval, kFrameShare * (end - start));
}

void Engine::Impl::carry_out(const Experiment& experiment) {
    std::shared_ptr<const Model> with;
    {
        const std::scoped_lock lock(mutex);
        with = model;
    }
    if (!with) return finish(EngineState::failed, no_model);
    update([](EngineStatus& s) {
        const int n_failures = s.n_failures;
        s = EngineStatus{};
        s.n_failures = n_failures;
        s.state = EngineState::prompt;
        s.what = "reading the prompt";
    });
    run.reset();  // frees the previous caches before the new ones are made
    auto created = Run::create(with, experiment);
    if (!created) return finish(EngineState::failed, created.error());
    run = std::move(*created);
    log.drain();
    {
        const std::scoped_lock lock(mutex);
        info = std::make_shared<const RunInfo>(run->info());
        begun = {info, with};
        status.n_planned = info->n_planned;
        status.run_serial = info->serial;
        observer = next_observer;
    }
    if (observer) observer->began(info, with);
    const auto cancelled = [this] { return wait_or_stop(); };
    const Status prompt = run->read_prompt(
        [&](double share, const char* what) { update([&](EngineStatus& s) { s.progress = share, s.what = what; }); },
        cancelled);
    if (!prompt)
        return finish(prompt.error().code == ErrorCode::interrupted ? EngineState::stopped : EngineState::failed,
                      prompt.error().code == ErrorCode::interrupted ? Error{} : prompt.error());
    update([](EngineStatus& s) { s.state = EngineState::running, s.what.clear(); });

    const Clock::time_point start = Clock::now();
    stood_still = {}, over = false;
    EngineState end = EngineState::running;
    Error error;
    const auto stop_at = [&](const Error& why) {
        end = why.code == ErrorCode::interrupted ? EngineState::stopped : EngineState::failed;
        if (end == EngineState::failed) error = why;
    };
    while (end == EngineState::running) {
        RunRecords records;
        const Result<bool> more = run->next(records.steps, cancelled);
        publish(std::move(records), start);
        if (!more)
            stop_at(more.error());
        else if (!*more)
            end = EngineState::finished;
        else if (run->floor_due())
            if (const Status drawn = measure_floor(); !drawn) stop_at(drawn.error());
        if (end != EngineState::running) break;
        {
            const std::scoped_lock lock(mutex);
            if (!stop_run && std::exchange(pause_after_token, false)) paused = true;
        }
        serve_distribution(false);
        if (over || wait_or_stop()) end = EngineState::stopped;
    }
    if (end != EngineState::failed && run->floor_due(true) && !end_run())
        if (const Status drawn = measure_floor(); !drawn && drawn.error().code != ErrorCode::interrupted)
            stop_at(drawn.error());
    finish(end, error);
    serve_distribution(true);
}

void Engine::load_model(std::string path, int n_threads) {
    impl_->command([&] {
        impl_->load_path = std::move(path);
        impl_->load_threads = n_threads;
        impl_->busy = true;
        impl_->stop_run = impl_->stop_load = true;
    });
}

void Engine::cancel_load() {
    const std::scoped_lock lock(impl_->mutex);
    impl_->load_path.reset();
    impl_->stop_load = true;
}

std::shared_ptr<const Model> Engine::model() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->model;
}

void Engine::start(Experiment experiment, bool one_token) {
    impl_->command([&] {
        impl_->next_experiment = std::move(experiment);
        impl_->paused = false;
        impl_->pause_after_token = one_token;
        impl_->busy = true;
        impl_->stop_run = true;  // ends a run in progress
    });
}

void Engine::pause() {
    impl_->command([&] { impl_->paused = true; });
}

void Engine::resume() {
    impl_->command([&] { impl_->paused = false; });
}

void Engine::step() {
    impl_->command([&] {
        impl_->paused = false;
        impl_->pause_after_token = true;
    });
}

void Engine::stop(bool with_floor) {
    impl_->command([&] {
        impl_->stop_run = true;
        impl_->no_floor = impl_->no_floor || !with_floor;
        impl_->next_experiment.reset();
    });
}

void Engine::observe(std::shared_ptr<RunObserver> observer) {
    const std::scoped_lock lock(impl_->mutex);
    impl_->next_observer = std::move(observer);
}

EngineStatus Engine::status() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->status;
}

RunBegun Engine::take_begun() {
    const std::scoped_lock lock(impl_->mutex);
    return std::exchange(impl_->begun, {});
}

std::shared_ptr<const RunInfo> Engine::run_info() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->info;
}

RunRecords Engine::drain() {
    return impl_->log.drain();
}

void Engine::request_distribution(const DistributionRequest& request) {
    impl_->command([&] {
        impl_->wanted = request;
        impl_->new_request = true;
    });
}

void Engine::cancel_distribution() {
    const std::scoped_lock lock(impl_->mutex);
    impl_->wanted.reset();
    impl_->new_request = false;
}

std::shared_ptr<const DistributionFrame> Engine::take_distribution() {
    return impl_->frames.take();
}

void Engine::wait_until_idle() {
    std::unique_lock lock(impl_->mutex);
    impl_->idle.wait(lock, [this] { return !impl_->busy; });
}

}  // namespace kvasir
