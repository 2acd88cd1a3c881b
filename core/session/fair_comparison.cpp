// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/fair_comparison.h"

#include "core/cache/with_policy.h"

namespace kvasir {
namespace {

bool compared(const LaneSetup& lane) {
    return lane.enabled && !lane.spec.exact();
}

constexpr int kExact = -1;

/// Residuals and sink of one lane; kExact where a side has no residual.
struct Residuals {
    int k, v, sink;
    explicit Residuals(const CacheSpec& spec)
        : k(spec.k.exact() ? kExact : spec.residual_k), v(spec.v.exact() ? kExact : spec.residual_v), sink(spec.sink) {}
    /// Where this lane is exact, `other` decides.
    void complete(const Residuals& other) {
        if (k == kExact) k = other.k;
        if (v == kExact) v = other.v;
    }
    bool equals(const Residuals& other) const {
        return sink == other.sink && (k == kExact || other.k == kExact || k == other.k) &&
               (v == kExact || other.v == kExact || v == other.v);
    }
};

Result<Experiment> with_residuals(const Experiment& experiment, const Residuals& wanted) {
    Experiment equal = experiment;
    for (LaneSetup& lane : equal.lanes) {
        if (!compared(lane)) continue;
        auto spec = with_policy(lane.spec, wanted.k, wanted.v, wanted.sink);
        if (!spec)
            return Error{ErrorCode::input, "cannot make the comparison equal", display_name(lane.spec),
                         spec.error().why, spec.error().hint};
        lane.spec = std::move(*spec);
    }
    return equal;
}

}  // namespace

bool equal_terms(const std::vector<const CacheSpec*>& lanes) {
    for (const CacheSpec* a : lanes)
        for (const CacheSpec* b : lanes)
            if (!Residuals(*a).equals(Residuals(*b))) return false;
    return true;
}

std::vector<const CacheSpec*> compared_lanes(const Experiment& experiment) {
    std::vector<const CacheSpec*> specs;
    for (const LaneSetup& lane : experiment.lanes)
        if (compared(lane)) specs.push_back(&lane.spec);
    return specs;
}

Result<Experiment> made_equal(const Experiment& experiment) {
    const std::vector<const CacheSpec*> lanes = compared_lanes(experiment);
    Status refusal;  // the first one: that of the residual a person would expect
    for (const CacheSpec* spec : lanes) {
        Residuals wanted(*spec);
        for (const CacheSpec* other : lanes)
            wanted.complete(Residuals(*other));
        auto equal = with_residuals(experiment, wanted);
        if (equal) return equal;
        if (refusal) refusal = equal.error();
    }
    if (!refusal) return refusal.error();
    return experiment;
}

}  // namespace kvasir
