// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/base/guard_memory.h"
#include "core/cache/length_check.h"
#include "core/measure/divergence.h"
#include "core/measure/statistics.h"
#include "core/model/forward.h"
#include "core/model/prompt_pass.h"
#include "core/session/floor_pass.h"
#include "core/session/token_plan.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

struct Lane {
    int index = 0;  ///< in the experiment
    std::unique_ptr<KvCache> cache;
    Sampler sampler;
    std::vector<float> logits;  ///< of the next token
    TimeSplit time;
    double step_ns = 0;
    std::vector<float> attention_error;
    bool running = true;
    bool same_text = true;  ///< its tokens so far are the reference's
    std::string error;
    explicit Lane(const Sampling& s) : sampler(s) {}
};

/// Name of the model's file without its type: what people call the model. (general.name is often the name of a training
/// run.)
std::string short_name(const Model& model) {
    std::string name = std::filesystem::path(model.file().path()).stem().string();
    const std::string type = "." + model.config().weights;
    if (name.size() > type.size() && name.ends_with(type)) name.resize(name.size() - type.size());
    return name;
}

Error refuse(std::string what, std::string why, std::string hint) {
    return Error{ErrorCode::input, std::move(what), "", std::move(why), std::move(hint)};
}

}  // namespace

struct Run::Impl {
    std::shared_ptr<const Model> model;
    RunInfo info;
    std::vector<int> given;   ///< score_text: the tokens after the prompt
    std::vector<int> unused;  ///< padding rows of the vocabulary: never sampled
    std::unique_ptr<Forward> forward;
    std::unique_ptr<FloorPass> floor_pass;  ///< of the reference, when the noise floor is measured
    std::vector<Lane> lanes;                ///< running ones only, in experiment order
    std::vector<float> logits;              ///< of a step, all lanes; kept for its memory
    std::vector<float> outputs;  ///< (n_layers, width) of the reference's attention in the last step, for floor_pass
    std::vector<std::string> errors;
    std::vector<LaneStop> stops;  ///< not yet handed out
    int reference = -1;           ///< index into lanes
    int done = 0;
    bool over = false;

    Status plan(const Experiment& e);
    Status make_lanes();
    Status make_floor_pass();
    CacheShape shape() const;
    /// Tokens in a cache at the end: the last one that is predicted is not put into it.
    int last_cached() const { return int(info.prompt_ids.size()) + info.n_planned - 1; }
    void fail(Lane& lane, const Error& error) {
        lane.running = false;
        lane.error = errors[size_t(lane.index)] = error.message();
        stops.push_back({info.serial, lane.index, lane.error});
    }
    bool ends_text(int id) const;
    int sample(Lane& lane, const Prediction& prediction) const;
    Error not_numbers(const Lane& lane) const;
    void record(std::vector<StepRecord>& records, const std::vector<Prediction>& predictions,
                const std::vector<int>& tokens);
    void record_layer(int layer, const float* o, const std::vector<Lane*>& who);
    Status forward_step(const std::vector<int>& tokens, const CancelCheck& cancelled);
};

Run::Run(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Run::~Run() = default;
const RunInfo& Run::info() const {
    return impl_->info;
}
int Run::n_done() const {
    return impl_->done;
}
const std::string& Run::lane_error(int lane) const {
    return impl_->errors[size_t(lane)];
}
std::vector<LaneStop> Run::take_stops() {
    return std::exchange(impl_->stops, {});
}
const KvCache* Run::cache(int lane) const {
    for (const Lane& l : impl_->lanes)
        if (l.index == lane) return l.cache.get();
    return nullptr;
}

/// Tokenizes and says how many tokens there will be.
Status Run::Impl::plan(const Experiment& e) {
    std::vector<int> ids = model->encode_prompt(e.prompt, e.chat && !e.score_text);
    const auto plan = plan_tokens(e, int(ids.size()), model->config().context_length);
    if (!plan) return plan.error();
    if (e.score_text) {
        info.n_text_tokens = int(ids.size());
        given.assign(ids.begin() + plan->n_prompt, ids.begin() + plan->n_prompt + plan->n_planned);
        ids.resize(size_t(plan->n_prompt));
    }
    info.prompt_ids = std::move(ids);
    info.n_planned = plan->n_planned;
    info.note = plan->note;
    if (e.chat && !e.score_text && model->chat_template().kind() == ChatTemplate::Kind::none)
        info.note += std::string(info.note.empty() ? "" : "; ") +
                     "the model has no chat template that is recognised: the prompt is given as it is";
    return {};
}

CacheShape Run::Impl::shape() const {
    return model->cache_shape(int(info.prompt_ids.size()) + info.n_planned);
}

Status Run::Impl::make_floor_pass() {
    const Experiment& e = info.experiment;
    if (!e.noise_floor) return {};
    auto draw = FloorPass::create(model, e.lanes[size_t(e.reference)].spec, shape(), e.kernels, info.n_threads,
                                  e.sum_order + 1);
    if (!draw) return draw.error();
    floor_pass = std::move(*draw);
    return {};
}

Status Run::Impl::make_lanes() {
    const Experiment& e = info.experiment;
    const ModelConfig& c = model->config();
    errors.assign(e.lanes.size(), "");
    for (size_t i = 0; i < e.lanes.size(); ++i) {
        const CacheSpec& spec = e.lanes[i].spec;
        RunInfo::LaneInfo lane_info;
        lane_info.requested = spec.text;
        lane_info.title = display_name(spec);
        lane_info.exact = spec.exact();
        lane_info.nominal_bits = nominal_bits_per_value(spec, c.head_dim, c.n_layers);
        if (!e.lanes[i].enabled) {
            lane_info.failed = true;
            lane_info.why = "switched off";
        } else if (auto cache = KvCache::create(spec, shape(), e.kernels); !cache) {
            lane_info.failed = true;
            lane_info.error = cache.error();
            lane_info.why = errors[i] = cache.error().message();
        } else if (const Status fits = check_lengths(spec, shape(), int(info.prompt_ids.size()), last_cached());
                   !fits) {
            lane_info.failed = true;
            lane_info.error = fits.error();
            lane_info.why = errors[i] = fits.error().message();
        } else {
            lane_info.active = long_spec(spec);
            if (int(i) == e.reference) reference = int(lanes.size());
            Lane lane(e.sampling);
            lane.index = int(i);
            lane.cache = std::move(*cache);
            lanes.push_back(std::move(lane));
        }
        info.lanes.push_back(std::move(lane_info));
    }
    if (lanes.empty() || reference < 0) {
        const bool known = e.reference >= 0 && size_t(e.reference) < e.lanes.size();
        if (known && info.lanes[size_t(e.reference)].error.code == ErrorCode::memory)
            return info.lanes[size_t(e.reference)].error;  // another reference needs as much
        return refuse("the reference lane does not run",
                      known ? info.lanes[size_t(e.reference)].why : "no lane is named as the reference",
                      "Switch it on or choose another reference.");
    }
    return {};
}

Result<std::unique_ptr<Run>> Run::create_or_throw(std::shared_ptr<const Model> model, const Experiment& experiment) {
    static std::atomic<uint64_t> serial{0};
    auto impl = std::make_unique<Impl>();
    impl->model = std::move(model);
    impl->info.serial = ++serial;
    impl->info.experiment = experiment;
    constexpr int kMostOrders = 1000000;
    if (experiment.sum_order < 0 || experiment.sum_order > kMostOrders)
        return refuse("no such order of the sums",
                      fmt::format("{} is not between 0 and {}", experiment.sum_order, kMostOrders),
                      "Use a smaller number.");
    if (experiment.score_text) impl->info.experiment.mode = Mode::teacher_forced;
    impl->info.n_threads = experiment.n_threads > 0 ? experiment.n_threads : kernels::physical_cores();
    impl->info.simd = kernels::simd_name();
    impl->info.model_name = short_name(*impl->model);
    impl->info.model_weights = impl->model->weights_as_run();
    impl->info.model_sha256 = impl->model->sha256();
    impl->info.warnings = impl->model->warnings();
    for (int id = 0; id < impl->model->config().n_vocab; ++id)
        if (impl->model->tokenizer().is_unused(id)) impl->unused.push_back(id);
    if (Status s = impl->plan(experiment); !s) return s.error();
    if (Status s = impl->make_lanes(); !s) return s.error();
    impl->forward = std::make_unique<Forward>(impl->model, impl->info.n_threads, experiment.sum_order);
    if (Status s = impl->make_floor_pass(); !s) return s.error();
    return std::unique_ptr<Run>(new Run(std::move(impl)));
}

Status Run::read_prompt_or_throw(const Progress& progress, const CancelCheck& cancelled) {
    Impl& m = *impl_;
    std::vector<KvCache*> caches;
    for (Lane& lane : m.lanes)
        caches.push_back(lane.cache.get());
    auto pass = kvasir::read_prompt(*m.forward, caches, m.info.prompt_ids, m.info.experiment.prefill_chunk, progress,
                                    cancelled);
    if (!pass) return pass.error();
    for (size_t i = 0; i < m.lanes.size(); ++i)
        m.lanes[i].logits = std::move(pass->logits[i]);
    const std::vector<Status> stored = m.forward->finish_prompt(caches);
    for (size_t i = 0; i < stored.size(); ++i)
        if (!stored[i]) m.fail(m.lanes[i], stored[i].error());
    if (!m.lanes[size_t(m.reference)].running)
        return refuse("the reference lane stopped", m.lanes[size_t(m.reference)].error, "Choose another reference.");
    return {};
}

bool Run::floor_due(bool at_end) const {
    const FloorPass* draw = impl_->floor_pass.get();
    return draw && (at_end ? !draw->empty() : draw->due());
}

int Run::floor_layers() const {
    const Impl& m = *impl_;
    if (!floor_due(true)) return 0;
    const int chunk = std::max(1, m.info.experiment.prefill_chunk), n_prompt = int(m.info.prompt_ids.size());
    const int prompt_passes = m.floor_pass->prompt_read() ? 0 : (n_prompt + chunk - 1) / chunk;
    return (prompt_passes + m.floor_pass->n_passes()) * m.model->config().n_layers;
}

Status Run::measure_floor_or_throw(std::vector<FloorRecord>& floors, const CancelCheck& cancelled) {
    Impl& m = *impl_;
    if (!floor_due(true)) return {};
    const size_t first = floors.size();
    Status done;
    if (!m.floor_pass->prompt_read())
        done = m.floor_pass->read_prompt(m.info.prompt_ids, m.info.experiment.prefill_chunk, cancelled);
    if (done) done = m.floor_pass->draw(floors, cancelled);
    for (size_t i = first; i < floors.size(); ++i)
        floors[i].run = m.info.serial;
    if (!done || m.over) m.floor_pass.reset();  // its cache is as large as the reference's
    return done;
}

bool Run::Impl::ends_text(int id) const {
    const std::vector<int>& stops = info.experiment.stop_ids;
    return model->tokenizer().is_end_of_generation(id) || std::find(stops.begin(), stops.end(), id) != stops.end();
}

/// Nothing can be chosen from logits that are not numbers.
Error Run::Impl::not_numbers(const Lane& lane) const {
    const auto found = lane.cache->non_finite();
    const std::string where =
        found ? fmt::format("the {} of layer {} overflowed at position {}", found->side == Side::k ? "keys" : "values",
                            found->layer, found->position)
              : "the cache holds nothing that overflowed: the weights may not be numbers";
    return refuse("no token can be chosen", fmt::format("the logits of step {} are not numbers; {}", done, where),
                  found ? "Use fp32, which overflows later." : "Choose another model.");
}

int Run::Impl::sample(Lane& lane, const Prediction& prediction) const {
    const size_t n_vocab = size_t(model->config().n_vocab);
    const bool may_end = done >= info.experiment.min_tokens;
    // A greedy choice is among the likeliest tokens, which are known already.
    const auto allowed = [&](int id) {
        return (may_end || !ends_text(id)) && !std::binary_search(unused.begin(), unused.end(), id);
    };
    if (!(info.experiment.sampling.temperature > 0) && std::isfinite(prediction.log_sum))
        for (const TopToken& token : prediction.top)
            if (token.id >= 0 && allowed(token.id)) return token.id;
    if (unused.empty() && may_end) return lane.sampler.pick({lane.logits.data(), n_vocab});
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    std::vector<float> masked(lane.logits.begin(), lane.logits.begin() + std::ptrdiff_t(n_vocab));
    for (const int id : unused)
        masked[size_t(id)] = kNever;
    for (int id = 0; !may_end && id < int(n_vocab); ++id)
        if (ends_text(id)) masked[size_t(id)] = kNever;
    return lane.sampler.pick(masked);
}

void Run::Impl::record(std::vector<StepRecord>& records, const std::vector<Prediction>& predictions,
                       const std::vector<int>& tokens) {
    const Prediction& ref = predictions[size_t(reference)];
    std::vector<StepRecord> fresh(lanes.size());
    forward->pool().for_each(int(lanes.size()), 1, [&](int i, int) {
        const Lane& lane = lanes[size_t(i)];
        if (!lane.running) return;
        const Prediction& mine = predictions[size_t(i)];
        const int token = tokens[size_t(i)];
        StepRecord& r = fresh[size_t(i)];
        r.run = info.serial;
        r.lane = lane.index;
        r.step = done;
        r.position = int(info.prompt_ids.size()) + done;
        r.token_id = token;
        r.nll = float(-mine.log_prob(token));
        r.probability = float(std::exp(mine.log_prob(token)));
        r.comparable = lane.same_text;
        if (lane.same_text) {
            r.delta_logprob = float(mine.log_prob(token) - ref.log_prob(token));
            r.kl = i == reference && ref.is_finite() ? 0 : float(kl_divergence(ref, mine));
            r.reference_probability = float(std::exp(ref.log_prob(token)));
            r.top1_agrees = agree(mine, ref);
            r.attention_error = lane.attention_error;
        }
        r.top = mine.top;
        r.top1_id = mine.top[0].id;
        r.rank = mine.rank(token);
        r.margin = float(mine.margin());
        r.bytes = lane.cache->ledger();
        r.n_cached = lane.cache->n_tokens(0);
        r.coverage = lane.cache->coverage();
        r.time = lane.time;
        r.step_ns = lane.step_ns;
    });
    if (floor_pass && lanes[size_t(reference)].running)
        floor_pass->add(done, tokens[size_t(reference)], lanes[size_t(reference)].logits, outputs);
    for (size_t i = 0; i < lanes.size(); ++i)
        if (lanes[i].running) records.push_back(std::move(fresh[i]));
}

/// What each of `who` lost of this layer's attention output, all heads together: one row of `o` per lane.
void Run::Impl::record_layer(int layer, const float* o, const std::vector<Lane*>& who) {
    const ModelConfig& c = model->config();
    const size_t width = size_t(c.n_heads) * size_t(c.head_dim);
    const auto row = [&](size_t i) { return std::span<const float>(o + i * width, width); };
    const size_t ref = size_t(std::find(who.begin(), who.end(), &lanes[size_t(reference)]) - who.begin());
    for (size_t i = 0; i < who.size(); ++i) {
        who[i]->attention_error.resize(size_t(c.n_layers));
        who[i]->attention_error[size_t(layer)] = i == ref ? 0 : float(relative_error(row(i), row(ref)));
    }
    if (!floor_pass) return;
    outputs.resize(size_t(c.n_layers) * width);
    std::copy_n(row(ref).data(), width, outputs.data() + size_t(layer) * width);
}

Status Run::Impl::forward_step(const std::vector<int>& tokens, const CancelCheck& cancelled) {
    std::vector<Sequence> sequences;
    std::vector<Lane*> who;
    ForwardOptions options;
    for (size_t i = 0; i < lanes.size(); ++i) {
        if (!lanes[i].running) continue;
        Sequence s;
        s.tokens = {tokens[i]};
        s.caches = {lanes[i].cache.get()};
        sequences.push_back(std::move(s));
        who.push_back(&lanes[i]);
    }
    const Lane& ref = lanes[size_t(reference)];
    if (ref.running && info.experiment.layer_errors)
        options.output_tap = [&](int layer, const float* o) { record_layer(layer, o, who); };
    if (Status s = forward->run(sequences, options, logits, cancelled); !s) return s;
    const size_t stride = forward->logits_stride();
    for (size_t s = 0; s < sequences.size(); ++s) {
        Lane& lane = *who[s];
        lane.logits.assign(logits.begin() + std::ptrdiff_t(s * stride),
                           logits.begin() + std::ptrdiff_t((s + 1) * stride));
        lane.time = forward->times()[s];
        lane.step_ns = forward->wall_ns();
        if (sequences[s].failed) fail(lane, sequences[s].error);
    }
    if (!ref.running && !ref.error.empty())
        return refuse("the reference lane stopped", ref.error, "Choose another reference.");
    return {};
}

Result<bool> Run::next_or_throw(std::vector<StepRecord>& records, const CancelCheck& cancelled) {
    Impl& m = *impl_;
    if (m.over) return false;
    const size_t n_vocab = size_t(m.model->config().n_vocab);
    std::vector<Prediction> predictions(m.lanes.size());
    m.forward->pool().for_each(int(m.lanes.size()), 1, [&](int i, int) {
        const Lane& lane = m.lanes[size_t(i)];
        if (lane.running || i == m.reference) predictions[size_t(i)] = predict({lane.logits.data(), n_vocab});
    });

    const bool free = m.info.experiment.mode == Mode::free_running;
    std::vector<int> tokens(m.lanes.size(), -1);
    Lane& ref = m.lanes[size_t(m.reference)];
    const bool given = m.info.experiment.score_text;
    for (size_t i = 0; i < m.lanes.size(); ++i) {
        const bool chooses = !given && (free || int(i) == m.reference);
        if (m.lanes[i].running && chooses && !predictions[i].is_finite()) m.fail(m.lanes[i], m.not_numbers(m.lanes[i]));
    }
    if (!ref.running && !ref.error.empty())
        return refuse("the reference lane stopped", ref.error, "Choose another reference.");
    const int ref_token = given         ? m.given[size_t(m.done)]
                          : ref.running ? m.sample(ref, predictions[size_t(m.reference)])
                                        : -1;
    for (size_t i = 0; i < m.lanes.size(); ++i) {
        Lane& lane = m.lanes[i];
        if (!lane.running) continue;
        const bool own = free && int(i) != m.reference;
        tokens[i] = own ? m.sample(lane, predictions[i]) : ref_token;
    }
    m.record(records, predictions, tokens);
    ++m.done;

    bool any = false;
    for (size_t i = 0; i < m.lanes.size(); ++i) {
        Lane& lane = m.lanes[i];
        if (!lane.running) continue;
        if (tokens[i] != ref_token) lane.same_text = false;
        if (!m.info.experiment.score_text && m.ends_text(tokens[i])) lane.running = false;
        any = any || lane.running;
    }
    // A free lane has nothing to be compared with once the reference has ended, but its own text goes on.
    if (!any || m.done >= m.info.n_planned) {
        m.over = true;
        return false;
    }
    if (Status s = m.forward_step(tokens, cancelled); !s) return s.error();
    if (!ref.running)
        for (Lane& lane : m.lanes)
            lane.same_text = false;
    return true;
}

namespace {

template <class F>
auto guarded(F&& job) {
    return guard_memory("the run cannot go on", "Use fewer lanes, a shorter text or a smaller model.", job);
}

}  // namespace

Result<std::unique_ptr<Run>> Run::create(std::shared_ptr<const Model> model, const Experiment& experiment) {
    return guarded([&] { return create_or_throw(std::move(model), experiment); });
}

Status Run::read_prompt(const Progress& progress, const CancelCheck& cancelled) {
    return guarded([&] { return read_prompt_or_throw(progress, cancelled); });
}

Result<bool> Run::next(std::vector<StepRecord>& records, const CancelCheck& cancelled) {
    return guarded([&] { return next_or_throw(records, cancelled); });
}

Status Run::measure_floor(std::vector<FloorRecord>& floors, const CancelCheck& cancelled) {
    return guarded([&] { return measure_floor_or_throw(floors, cancelled); });
}

Result<std::vector<double>> blind_nll(std::shared_ptr<const Model> model, const CacheSpec& spec,
                                      const std::vector<int>& ids, int first_scored, int n_threads,
                                      const CancelCheck& cancelled) {
    const ModelConfig& c = model->config();
    if (spec.quantizes_as_it_writes(c.n_layers))
        return Error{ErrorCode::input, "no blind forward", fmt::format("'{}'", spec.text),
                     "it quantizes as it writes, so that one forward pass reads the cache",
                     "Measure it token by token."};
    auto cache = KvCache::create(spec, model->cache_shape(int(ids.size())));
    if (!cache) return cache.error();
    Forward forward(model, n_threads > 0 ? n_threads : kernels::physical_cores());
    std::vector<double> nll;
    ForwardOptions options;
    options.all_logits = true;
    const auto score = [&](size_t begin, size_t n, const std::vector<float>& logits) {
        for (size_t i = begin; i < begin + n; ++i) {
            if (int(i) + 1 < first_scored || i + 1 >= ids.size()) continue;
            const float* row = logits.data() + (i - begin) * forward.logits_stride();
            nll.push_back(kernels::log_sum_exp(row, c.n_vocab) - row[ids[i + 1]]);
        }
    };
    if (Status done = each_prompt_chunk(forward, **cache, ids, options, score, cancelled); !done) return done.error();
    return nll;
}

}  // namespace kvasir
