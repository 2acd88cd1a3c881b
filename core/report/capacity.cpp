// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/capacity.h"

#include <algorithm>
#include <cmath>

#include "core/cache/spec_text.h"

namespace kvasir {
namespace {

struct TransientRow {
    Transient transient;
    const char* name;
};
constexpr TransientRow kTransients[] = {
    {Transient::logits32, "logits32"}, {Transient::mlp, "mlp"}, {Transient::layer_copy, "layer-copy"}};

}  // namespace

const char* transient_name(Transient t) {
    for (const TransientRow& row : kTransients)
        if (row.transient == t) return row.name;
    return "";
}

Result<Transient> parse_transient(const std::string& name) {
    std::vector<std::string> names;
    for (const TransientRow& row : kTransients) {
        if (name == row.name) return row.transient;
        names.push_back(row.name);
    }
    return Error{ErrorCode::usage, "unknown transient", "--transients",
                 "'" + name + "' is not one of " + spec_text::list(names),
                 "Nearest: " + spec_text::nearest(name, names) + "."};
}

uint64_t transient_bytes_per_token(Transient t, const ModelShape& shape, const CacheSpec& spec) {
    switch (t) {
        case Transient::logits32:
            return 4 * uint64_t(shape.n_vocab);
        case Transient::mlp:
            return 2 * 2 * uint64_t(shape.n_ff);
        case Transient::layer_copy: {
            // Section 1.5: 2 sides x H x D x 2 bytes, twice.
            const uint64_t side = uint64_t(shape.n_kv_heads) * uint64_t(shape.head_dim) * 2 * 2;
            return (spec.flush_k == FlushRule::whole ? side : 0) + (spec.flush_v == FlushRule::whole ? side : 0);
        }
    }
    return 0;
}

CapacityRow capacity_row(const CapacityQuestion& question, const CacheSpec& spec) {
    CapacityRow row;
    row.spec = spec;
    const CacheShape shape = question.shape.cache();
    if (const Status fits = check_geometry(spec, shape.n_kv_heads, shape.head_dim, shape.n_layers); !fits) {
        row.refused = fits.error().message();
        return row;
    }
    const ByteRates rates = byte_rates(spec, shape);
    row.bytes_per_token = rates.per_token;
    row.fixed_bytes = uint64_t(std::ceil(rates.window));
    for (const Transient t : question.transients)
        row.transient_bytes_per_token += transient_bytes_per_token(t, question.shape, spec);
    const double left = double(question.memory_bytes) - double(question.weight_bytes);
    const double beside = double(row.transient_bytes_per_token);
    const double with_window = (left - double(row.fixed_bytes)) / (rates.per_token + beside);
    // A context shorter than the window may be exact altogether.
    const double all_exact = left / (rates.exact_per_token + beside);
    row.max_context = int64_t(std::max({0.0, std::floor(with_window), std::floor(all_exact)}));
    row.at_max = cache_bytes(spec, shape, row.max_context, row.max_context);
    return row;
}

uint64_t weight_bytes(const ModelShape& shape, double bits_per_weight) {
    return uint64_t(std::ceil(double(shape.n_parameters()) * bits_per_weight / 8));
}

}  // namespace kvasir
