// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/forward.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/model/attention.h"
#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

size_t round_up_8(int n) {
    return (size_t(n) + 7) / 8 * 8;
}

/// One matrix of a region: y (rows, stride) = W x + bias.
struct MatmulJob {
    const kernels::PackedMatrix* w;
    const std::vector<float>* bias;
    float* y;
    size_t stride;
};

}  // namespace

struct Forward::Impl {
    Impl(std::shared_ptr<const Model> m, int n_threads, int order)
        : model(std::move(m)),
          sum_order(order),
          pool(n_threads),
          attention(model->config().n_heads, model->config().n_kv_heads, model->config().head_dim, n_threads) {}

    std::shared_ptr<const Model> model;
    const int sum_order;
    kernels::ThreadPool pool;
    Attention attention;

    // (rows, ...) scratch, grown to the largest batch seen
    std::vector<float> x, h, q, k, v, o, gate, up, prepared, cos, sin;
    std::vector<AttentionRow> rows;
    std::vector<TimeSplit> times, cpu_times;
    std::vector<double> quantize_cpu;  ///< per sequence: what its own caches took to quantize
    double wall = 0, matmul_ns = 0, quantize_ns = 0, attention_ns = 0;

    int n_rows() const { return int(rows.size()); }

    void grow(std::vector<float>& buffer, size_t floats) {
        if (buffer.size() < floats) buffer.resize(floats);
    }

    template <class F>
    void each_row(F&& body) {
        if (n_rows() <= 2) {
            for (int i = 0; i < n_rows(); ++i)
                body(i);
        } else {
            pool.for_each(n_rows(), 1, [&](int i, int) { body(i); });
        }
    }

    /// Runs all jobs over the same prepared activations as one parallel region.
    void matmuls(std::initializer_list<MatmulJob> jobs, int n, const float* activations) {
        const Clock::time_point start = Clock::now();
        int total = 0;
        for (const MatmulJob& job : jobs)
            total += int(round_up_8(job.w->rows()) / 8);
        const int grain = std::clamp(total / (pool.size() * 8) / 2 * 2, 2, 32);
        pool.for_blocks(total, grain, [&](int begin, int end, int) {
            int offset = 0;
            for (const MatmulJob& job : jobs) {
                const int blocks = int(round_up_8(job.w->rows()) / 8);
                const int b = std::max(begin - offset, 0), e = std::min(end - offset, blocks);
                offset += blocks;
                if (b >= e) continue;
                kernels::matmul(*job.w, b, e, activations, n, job.y, job.stride, sum_order);
                if (job.bias->empty()) continue;
                const int r0 = b * 8, r1 = std::min(e * 8, job.w->rows());
                for (int i = 0; i < n; ++i)
                    kernels::add(job.bias->data() + r0, r1 - r0, job.y + size_t(i) * job.stride + r0);
            }
        });
        matmul_ns += ns_since(start);
    }

    /// prepared <- norm(x) of each row.
    void prepare_normed(const std::vector<float>& weight) {
        const ModelConfig& c = model->config();
        each_row([&](int i) {
            float* to = h.data() + size_t(i) * size_t(c.n_embd);
            kernels::rms_norm(x.data() + size_t(i) * size_t(c.n_embd), weight.data(), c.n_embd, c.rms_eps, to);
            kernels::prepare_activation(to, i, c.n_embd, prepared.data());
        });
    }

    void add_to_residual(const std::vector<float>& from, size_t stride) {
        const int n_embd = model->config().n_embd;
        each_row([&](int i) {
            kernels::add(from.data() + size_t(i) * stride, n_embd, x.data() + size_t(i) * size_t(n_embd));
        });
    }

    void collect_rows(std::span<Sequence> sequences);
    void reserve();
    void store_keys_and_values(int layer, std::span<Sequence> sequences, const VectorTap& tap);
    void commit(int layer, std::span<Sequence> sequences);
    void flush(int layer, std::span<Sequence> sequences);
    template <class F>
    void each_side(std::span<Sequence> sequences, F&& quantize);
    void layer(int index, std::span<Sequence> sequences, const ForwardOptions& options);
    void compute_logits(bool all, std::vector<float>& logits);
    void split_times(std::span<Sequence> sequences);
};

Forward::Forward(std::shared_ptr<const Model> model, int n_threads, int sum_order)
    : impl_(std::make_unique<Impl>(std::move(model), n_threads, sum_order)) {}
Forward::~Forward() = default;

const std::vector<TimeSplit>& Forward::times() const {
    return impl_->times;
}
double Forward::wall_ns() const {
    return impl_->wall;
}
kernels::ThreadPool& Forward::pool() {
    return impl_->pool;
}
const Model& Forward::model() const {
    return *impl_->model;
}

void Forward::Impl::collect_rows(std::span<Sequence> sequences) {
    rows.clear();
    for (size_t s = 0; s < sequences.size(); ++s) {
        KvCache* cache = sequences[s].caches.front();
        const int first = cache->n_tokens(0);
        for (int i = 0; i < int(sequences[s].tokens.size()); ++i)
            rows.push_back({int(s), first + i, cache});
    }
}

void Forward::Impl::reserve() {
    const ModelConfig& c = model->config();
    const size_t n = rows.size(), width = size_t(c.n_heads) * size_t(c.head_dim);
    grow(x, n * size_t(c.n_embd));
    grow(h, n * std::max(round_up_8(c.n_embd), width));
    grow(q, n * round_up_8(int(width)));
    grow(k, n * round_up_8(c.n_kv_heads * c.head_dim));
    grow(v, n * round_up_8(c.n_kv_heads * c.head_dim));
    grow(o, n * std::max(width, round_up_8(c.n_embd)));
    grow(gate, n * round_up_8(c.n_ff));
    grow(up, n * round_up_8(c.n_ff));
    grow(prepared, kernels::activation_floats(int(n), std::max({c.n_embd, c.n_ff, int(width)})));
    grow(cos, n * size_t(c.head_dim / 2));
    grow(sin, n * size_t(c.head_dim / 2));
}

void Forward::Impl::store_keys_and_values(int layer, std::span<Sequence> sequences, const VectorTap& tap) {
    const ModelConfig& c = model->config();
    const size_t half = size_t(c.head_dim / 2), dim = size_t(c.head_dim);
    const int n_queries = c.n_heads / c.n_kv_heads;
    const float query_scale = 1.0f / std::sqrt(float(c.head_dim));
    for (Sequence& s : sequences)
        for (KvCache* cache : s.caches)
            cache->extend(layer, int(s.tokens.size()));
    pool.for_each(n_rows() * c.n_kv_heads, 1, [&](int item, int) {
        const size_t row = size_t(item / c.n_kv_heads), head = size_t(item % c.n_kv_heads);
        const float *cosine = cos.data() + row * half, *sine = sin.data() + row * half;
        float* key = k.data() + row * round_up_8(c.n_kv_heads * c.head_dim) + head * dim;
        const float* value = v.data() + row * round_up_8(c.n_kv_heads * c.head_dim) + head * dim;
        const bool tapped = tap && rows[row].sequence == 0;
        const auto record = [&](VectorKind kind, size_t of_head, const float* vector) {
            if (tapped) tap(kind, layer, int(of_head), rows[row].position, vector);
        };
        record(VectorKind::k_before_rope, head, key);
        kernels::rope_halves(key, cosine, sine, c.head_dim);
        record(VectorKind::k, head, key);
        record(VectorKind::v, head, value);
        for (int j = 0; j < n_queries; ++j) {
            const size_t query_head = head * size_t(n_queries) + size_t(j);
            float* query = q.data() + row * round_up_8(c.n_heads * c.head_dim) + query_head * dim;
            kernels::rope_halves(query, cosine, sine, c.head_dim);
            record(VectorKind::q, query_head, query);
            kernels::scale(query_scale, c.head_dim, query);
        }
        for (KvCache* cache : sequences[size_t(rows[row].sequence)].caches)
            cache->put(layer, int(head), rows[row].position, key, value);
    });
}

/// Calls quantize(cache, side) for both sides of every cache that quantizes, in parallel; a refusal marks the sequence.
template <class F>
void Forward::Impl::each_side(std::span<Sequence> sequences, F&& quantize) {
    const Clock::time_point start = Clock::now();
    std::vector<std::pair<Sequence*, KvCache*>> jobs;
    for (Sequence& s : sequences)
        for (KvCache* cache : s.caches)
            if (!cache->spec().keeps_everything()) jobs.emplace_back(&s, cache);
    if (jobs.empty()) return;
    struct Outcome {
        Status status;
        double ns = 0;
    };
    std::vector<Outcome> results(jobs.size() * 2);
    pool.for_each(int(results.size()), 1, [&](int i, int) {
        const Clock::time_point begun = Clock::now();
        results[size_t(i)].status = quantize(*jobs[size_t(i / 2)].second, i % 2 ? Side::v : Side::k);
        results[size_t(i)].ns = ns_since(begun);
    });
    for (size_t i = 0; i < results.size(); ++i) {
        Sequence& sequence = *jobs[i / 2].first;
        quantize_cpu[size_t(&sequence - sequences.data())] += results[i].ns;
        if (results[i].status || sequence.failed) continue;
        sequence.failed = true;
        sequence.error = results[i].status.error();
    }
    quantize_ns += ns_since(start);
}

void Forward::Impl::commit(int layer, std::span<Sequence> sequences) {
    const bool any = std::any_of(sequences.begin(), sequences.end(), [](const Sequence& s) {
        return std::any_of(s.caches.begin(), s.caches.end(), [](const KvCache* c) { return c->spec().may_commit(); });
    });
    if (any) each_side(sequences, [&](KvCache& cache, Side side) { return cache.commit(layer, side); });
}

void Forward::Impl::flush(int layer, std::span<Sequence> sequences) {
    for (Sequence& s : sequences)
        for (KvCache* cache : s.caches)
            cache->count_read(layer);
    each_side(sequences, [&](KvCache& cache, Side side) { return cache.flush(layer, side); });
}

void Forward::Impl::layer(int index, std::span<Sequence> sequences, const ForwardOptions& options) {
    const ModelConfig& c = model->config();
    const LayerWeights& w = model->layer(index);
    const int n = n_rows(), width = c.n_heads * c.head_dim;
    const size_t q_stride = round_up_8(width), kv_stride = round_up_8(c.n_kv_heads * c.head_dim);
    const size_t embd_stride = round_up_8(c.n_embd), ff_stride = round_up_8(c.n_ff);

    prepare_normed(w.attn_norm);
    matmuls({{&w.q, &w.q_bias, q.data(), q_stride},
             {&w.k, &w.k_bias, k.data(), kv_stride},
             {&w.v, &w.v_bias, v.data(), kv_stride}},
            n, prepared.data());
    store_keys_and_values(index, sequences, options.tap);
    commit(index, sequences);

    const Clock::time_point start = Clock::now();
    attention.run(pool, index, rows, q.data(), q_stride, o.data(), size_t(width), options.flush, cpu_times);
    attention_ns += ns_since(start);
    if (options.flush) flush(index, sequences);
    if (options.output_tap) options.output_tap(index, o.data());

    each_row(
        [&](int i) { kernels::prepare_activation(o.data() + size_t(i) * size_t(width), i, width, prepared.data()); });
    matmuls({{&w.o, &w.o_bias, h.data(), embd_stride}}, n, prepared.data());
    add_to_residual(h, embd_stride);

    prepare_normed(w.ffn_norm);
    matmuls({{&w.gate, &w.gate_bias, gate.data(), ff_stride}, {&w.up, &w.up_bias, up.data(), ff_stride}}, n,
            prepared.data());
    each_row([&](int i) {
        float* g = gate.data() + size_t(i) * ff_stride;
        kernels::silu_mul(g, up.data() + size_t(i) * ff_stride, c.n_ff, g);
        kernels::prepare_activation(g, i, c.n_ff, prepared.data());
    });
    matmuls({{&w.down, &w.down_bias, h.data(), embd_stride}}, n, prepared.data());
    add_to_residual(h, embd_stride);
}

void Forward::Impl::compute_logits(bool all, std::vector<float>& logits) {
    const ModelConfig& c = model->config();
    std::vector<int> wanted;
    for (int i = 0; i < n_rows(); ++i)
        if (all || i + 1 == n_rows() || rows[size_t(i) + 1].sequence != rows[size_t(i)].sequence) wanted.push_back(i);
    const int n = int(wanted.size());
    logits.resize(size_t(n) * round_up_8(c.n_vocab));
    const auto prepare = [&](int i) {
        float* to = h.data() + size_t(i) * size_t(c.n_embd);
        kernels::rms_norm(x.data() + size_t(wanted[size_t(i)]) * size_t(c.n_embd), model->output_norm().data(),
                          c.n_embd, c.rms_eps, to);
        kernels::prepare_activation(to, i, c.n_embd, prepared.data());
    };
    pool.for_each(n, 1, [&](int i, int) { prepare(i); });
    static const std::vector<float> no_bias;
    matmuls({{&model->output(), &no_bias, logits.data(), round_up_8(c.n_vocab)}}, n, prepared.data());
}

/// The wall time of attention and of quantizing goes to the sequences in proportion to the time their own work took;
/// the rest (matrices, norms, RoPE, rounding K and V to fp16), which is the same work for each, is shared equally.
void Forward::Impl::split_times(std::span<Sequence> sequences) {
    times.assign(sequences.size(), TimeSplit{});
    double cpu = 0;
    for (const TimeSplit& t : cpu_times)
        cpu += t.total();
    const double n = double(sequences.size());
    const double factor = cpu > 0 ? attention_ns / cpu : 0;
    const double quantized = std::accumulate(quantize_cpu.begin(), quantize_cpu.end(), 0.0);
    for (size_t s = 0; s < times.size(); ++s) {
        TimeSplit& t = times[s];
        t.scores = cpu_times[s].scores * factor;
        t.softmax = cpu_times[s].softmax * factor;
        t.weighted_sum = cpu_times[s].weighted_sum * factor;
        t.rotate = cpu_times[s].rotate * factor;
        t.matmul = matmul_ns / n;
        t.quantize = quantized > 0 ? quantize_ns * quantize_cpu[s] / quantized : 0;
        t.other = std::max(0.0, wall - matmul_ns - quantize_ns - attention_ns) / n;
    }
}

Status Forward::run(std::span<Sequence> sequences, const ForwardOptions& options, std::vector<float>& logits,
                    const CancelCheck& cancelled) {
    Impl& m = *impl_;
    const ModelConfig& c = m.model->config();
    const Clock::time_point start = Clock::now();
    m.collect_rows(sequences);
    m.reserve();
    m.cpu_times.assign(sequences.size(), TimeSplit{});
    m.quantize_cpu.assign(sequences.size(), 0);
    m.matmul_ns = m.quantize_ns = m.attention_ns = 0;

    size_t row = 0;
    for (const Sequence& s : sequences)
        for (int token : s.tokens) {
            m.model->embed(token, m.x.data() + row * size_t(c.n_embd));
            m.model->rope_at(m.rows[row].position, m.cos.data() + row * size_t(c.head_dim / 2),
                             m.sin.data() + row * size_t(c.head_dim / 2));
            ++row;
        }
    double paused_ns = 0;
    for (int i = 0; i < c.n_layers; ++i) {
        if (cancelled) {
            const Clock::time_point asked = Clock::now();
            if (cancelled()) return Error{ErrorCode::interrupted, "run stopped", "", "", ""};
            paused_ns += ns_since(asked);  // a pause waits inside the question and is nobody's work
        }
        m.layer(i, sequences, options);
    }
    if (!options.no_logits) m.compute_logits(options.all_logits, logits);
    m.wall = ns_since(start) - paused_ns;
    m.split_times(sequences);
    return {};
}

std::vector<Status> Forward::finish_prompt(std::span<KvCache* const> caches) {
    const int n_layers = impl_->model->config().n_layers, per_cache = 2 * n_layers;
    std::vector<Status> results(caches.size() * size_t(per_cache));
    impl_->pool.for_each(int(results.size()), 1, [&](int i, int) {
        const int inside = i % per_cache;
        results[size_t(i)] = caches[size_t(i / per_cache)]->finish_prompt(inside / 2, inside % 2 ? Side::v : Side::k);
    });
    std::vector<Status> per_lane(caches.size());
    for (size_t i = results.size(); i-- > 0;)
        if (!results[i]) per_lane[i / size_t(per_cache)] = results[i];
    return per_lane;
}

size_t Forward::logits_stride() const {
    return round_up_8(impl_->model->config().n_vocab);
}

}  // namespace kvasir
