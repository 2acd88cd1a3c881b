// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/attribution.h"

#include <fmt/format.h>

#include <numeric>

namespace kvasir {
namespace {

/// Between the options of the preset form and those of the long form.
const char* separator(const CacheSpec& spec) {
    return spec.text.find(';') == std::string::npos ? "," : "; ";
}

Error refuse(const CacheSpec& spec, std::string why, std::string hint) {
    return {ErrorCode::input, "cannot attribute the error", fmt::format("'{}'", spec.text), std::move(why),
            std::move(hint)};
}

std::string range(int first, int last) {
    return first == last ? fmt::format("{}:fp16", first) : fmt::format("{}-{}:fp16", first, last);
}

/// "0-4:fp16+6-29:fp16": every layer but one.
std::string all_exact_but(int layer, int n_layers) {
    std::string text = layer > 0 ? range(0, layer - 1) : "";
    if (layer + 1 < n_layers) text += (text.empty() ? "" : "+") + range(layer + 1, n_layers - 1);
    return text;
}

std::string only(const CacheSpec& spec, int layer, Side side, int n_layers) {
    const char mine = side == Side::k ? 'k' : 'v', other = side == Side::k ? 'v' : 'k';
    if (spec.text.find_first_of(",;") == std::string::npos)
        return fmt::format("fp16,layers_{}={}:{}", mine, layer, spec.text);
    std::string text = spec.text;
    if (const std::string rest = all_exact_but(layer, n_layers); !rest.empty())
        text += fmt::format("{}layers_{}={}", separator(spec), mine, rest);
    if (!spec.side(side == Side::k ? Side::v : Side::k).exact())
        text += fmt::format("{}layers_{}={}", separator(spec), other, range(0, n_layers - 1));
    return text;
}

}  // namespace

Result<std::vector<AttributionPair>> attribution_pairs(const CacheSpec& spec, int n_layers, std::vector<int> layers) {
    if (spec.exact()) return refuse(spec, "it quantizes nothing", "Choose a quantized preset.");
    if (!spec.layers.empty()) return refuse(spec, "it has per-layer overrides of its own", "Leave them out.");
    if (layers.empty()) {
        layers.resize(size_t(n_layers));
        std::iota(layers.begin(), layers.end(), 0);
    }
    std::vector<AttributionPair> pairs;
    for (const int layer : layers) {
        if (layer < 0 || layer >= n_layers)
            return Error{ErrorCode::input, fmt::format("there is no layer {}", layer), "--layers",
                         fmt::format("the model has {}", n_layers), fmt::format("Choose 0 to {}.", n_layers - 1)};
        for (const Side side : {Side::k, Side::v}) {
            if (spec.side(side).exact()) continue;
            pairs.push_back(
                {layer, side, only(spec, layer, side, n_layers),
                 fmt::format("{}{}layers_{}={}:fp16", spec.text, separator(spec), side == Side::k ? 'k' : 'v', layer)});
        }
    }
    return pairs;
}

}  // namespace kvasir
