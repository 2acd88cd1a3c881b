// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/rotation_study.h"

#include <fmt/format.h>

#include "core/session/run.h"

namespace kvasir {
namespace {

Status check_range(const char* what, int value, int lowest, int n) {
    if (value >= lowest && value < n) return {};
    return Error{ErrorCode::input, fmt::format("there is no {} {}", what, value), "",
                 fmt::format("the model has {}", n), fmt::format("Choose 0 to {}.", n - 1)};
}

/// The scheme with the rotation of one side switched; the parser says whether that is a scheme.
Result<CacheSpec> with_rotation(CacheSpec spec, Side side, bool rotate) {
    SideSpec& s = side == Side::k ? spec.k : spec.v;
    if (s.rotates() == rotate) return spec;
    if (s.plain())
        return Error{ErrorCode::input, "nothing to rotate", fmt::format("'{}'", spec.text),
                     "this side is stored exactly", "Choose a scheme that quantizes it."};
    s.rotation_block = rotate ? SideSpec::kWholeHead : SideSpec::kNoRotation;
    s.signs = s.signs && rotate;
    return parse_cache_spec(long_spec(spec));
}

}  // namespace

Result<RotationStudy> study_rotation(const std::shared_ptr<const Model>& model, const Experiment& experiment,
                                     const CacheSpec& spec, const DistributionRequest& request,
                                     const Progress& progress, const CancelCheck& cancelled) {
    const ModelConfig& c = model->config();
    if (Status ok = check_range("layer", request.layer, 0, c.n_layers); !ok) return ok.error();
    if (Status ok = check_range("KV head", request.kv_head, -1, c.n_kv_heads); !ok) return ok.error();

    RotationStudy study;
    study.scheme_rotates = spec.side(request.side).rotates();
    Experiment e = experiment;
    e.score_text = true, e.n_tokens = 1, e.layer_errors = false, e.noise_floor = false;
    e.reference = 0;
    e.lanes = {{parse_cache_spec("fp16").value(), true}};
    std::optional<DistributionFrame>* frames[] = {&study.plain, &study.rotated};
    int lane_of[] = {-1, -1};
    for (const bool rotate : {false, true}) {
        const auto variant = with_rotation(spec, request.side, rotate);
        if (!variant) {
            study.why_missing = variant.error().message();
            continue;
        }
        lane_of[rotate] = int(e.lanes.size());
        e.lanes.push_back({*variant, true});
    }
    auto run = Run::create(model, e);
    if (!run) return run.error();
    if (Status read = (*run)->read_prompt(progress, cancelled); !read) return read.error();
    for (const bool rotate : {false, true}) {
        const int lane = lane_of[rotate];
        if (lane < 0) continue;
        const std::string& refused = (*run)->lane_error(lane);
        if (refused.empty()) {
            *frames[rotate] = build_distribution(request, *(*run)->cache(lane), *(*run)->cache(0));
        } else if (rotate == study.scheme_rotates) {
            return Error{ErrorCode::input, "cannot picture the scheme", fmt::format("'{}'", spec.text), refused, ""};
        } else {
            study.why_missing = refused;
        }
    }
    return study;
}

}  // namespace kvasir
