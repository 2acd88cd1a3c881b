// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/fair_comparison.h"

#include <algorithm>

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

namespace {

/// Do two lanes differ on a term? `side`: of whose sides both quantize.
bool differ(Term term, const CacheSpec& a, const CacheSpec& b, Side side) {
    const SideSpec &x = a.side(side), &y = b.side(side);
    const FlushRule rule_a = side == Side::k ? a.flush_k : a.flush_v, rule_b = side == Side::k ? b.flush_k : b.flush_v;
    const bool writes_a = rule_a == FlushRule::write, writes_b = rule_b == FlushRule::write;
    switch (term) {
        case Term::prompt:
            return writes_a != writes_b;
        case Term::score_rule:  // of what waits: before or after the flush
            return !writes_a && !writes_b && a.flush_first != b.flush_first;
        case Term::rotation:
            return x.rotation_block != y.rotation_block || x.signs != y.signs;
        case Term::centring:
            return x.centre != y.centre;
        case Term::rope:
            return x.pre_rope != y.pre_rope;
        case Term::residual:
        case Term::sink:
            break;
    }
    return false;
}

bool differ(Term term, const CacheSpec& a, const CacheSpec& b) {
    if (term == Term::sink) return a.sink != b.sink;
    if (term == Term::residual) {
        Residuals x(a), y(b);
        x.sink = y.sink = 0;
        return !x.equals(y);
    }
    for (const Side side : {Side::k, Side::v})
        if (!a.side(side).plain() && !b.side(side).plain() && differ(term, a, b, side)) return true;
    return false;
}

}  // namespace

std::vector<Term> differing_terms(const std::vector<const CacheSpec*>& lanes) {
    std::vector<Term> found;
    for (const Term term :
         {Term::residual, Term::sink, Term::prompt, Term::score_rule, Term::rotation, Term::centring, Term::rope}) {
        const bool any = std::any_of(lanes.begin(), lanes.end(), [&](const CacheSpec* a) {
            return std::any_of(lanes.begin(), lanes.end(), [&](const CacheSpec* b) { return differ(term, *a, *b); });
        });
        if (any) found.push_back(term);
    }
    return found;
}

const char* term_words(Term term) {
    switch (term) {
        case Term::residual:
            return "residual";
        case Term::sink:
            return "sink";
        case Term::prompt:
            return "prompt read exactly or from the codes";
        case Term::score_rule:
            return "attention before or after the flush";
        case Term::rotation:
            return "rotation";
        case Term::centring:
            return "centred keys";
        case Term::rope:
            return "keys before or after RoPE";
    }
    return "";
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
