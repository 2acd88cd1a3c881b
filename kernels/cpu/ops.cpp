// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/ops.h"

#include <cmath>

#include "kernels/cpu/hwy_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/ops.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "kernels/cpu/exp-inl.h"
#include "kernels/cpu/simd8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvasir::kernels::HWY_NAMESPACE {

/// Fills lanes n.. of a last, partial vector.
HWY_INLINE F8 load_tail(const float* x, int n, float fill) {
    float f[8];
    for (int i = 0; i < 8; ++i)
        f[i] = i < n ? x[i] : fill;
    return load8(f);
}

HWY_INLINE void store_tail(F8 v, int n, float* y) {
    float f[8];
    store8(v, f);
    for (int i = 0; i < n; ++i)
        y[i] = f[i];
}

void RmsNorm(const float* x, const float* w, int n, float eps, float* y) {
    F8 s0 = zero8(), s1 = zero8();
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        const F8 a = load8(x + i), b = load8(x + i + 8);
        s0 = MulAdd(a, a, s0);
        s1 = MulAdd(b, b, s1);
    }
    for (; i < n; i += 8) {
        const F8 a = load_tail(x + i, n - i, 0.0f);
        s0 = MulAdd(a, a, s0);
    }
    const F8 factor = set8(1.0f / std::sqrt(sum8(Add(s0, s1)) / float(n) + eps));
    for (i = 0; i + 8 <= n; i += 8)
        store8(Mul(Mul(load8(x + i), factor), load8(w + i)), y + i);
    if (i < n) store_tail(Mul(Mul(load_tail(x + i, n - i, 0), factor), load_tail(w + i, n - i, 0)), n - i, y + i);
}

void RopeHalves(float* x, const float* cos, const float* sin, int n) {
    const int half = n / 2;
    float* const high = x + half;
    int i = 0;
    for (; i + 8 <= half; i += 8) {
        const F8 a = load8(x + i), b = load8(high + i), c = load8(cos + i), s = load8(sin + i);
        store8(Sub(Mul(a, c), Mul(b, s)), x + i);
        store8(Add(Mul(b, c), Mul(a, s)), high + i);
    }
    for (; i < half; ++i) {
        const float a = x[i], b = high[i];
        x[i] = a * cos[i] - b * sin[i];
        high[i] = b * cos[i] + a * sin[i];
    }
}

HWY_INLINE F8 silu8(F8 gate) {
    return Div(gate, Add(set8(1.0f), exp8(Neg(gate))));
}

void SiluMul(const float* gate, const float* up, int n, float* out) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        store8(Mul(silu8(load8(gate + i)), load8(up + i)), out + i);
    if (i < n) store_tail(Mul(silu8(load_tail(gate + i, n - i, 0)), load_tail(up + i, n - i, 0)), n - i, out + i);
}

void AddTo(const float* x, int n, float* y) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        store8(Add(load8(y + i), load8(x + i)), y + i);
    for (; i < n; ++i)
        y[i] += x[i];
}

void Scale(float factor, int n, float* x) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        store8(Mul(load8(x + i), set8(factor)), x + i);
    for (; i < n; ++i)
        x[i] *= factor;
}

float MaxOf(const float* x, int n) {
    F8 m0 = set8(x[0]), m1 = m0;
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        m0 = Max(m0, load8(x + i));
        m1 = Max(m1, load8(x + i + 8));
    }
    for (; i < n; i += 8)
        m0 = Max(m0, load_tail(x + i, n - i, x[0]));
    float lanes[8];
    store8(Max(m0, m1), lanes);
    float best = lanes[0];
    for (float lane : lanes)
        best = lane > best ? lane : best;
    return best;
}

/// A sum of n terms exp(x - maximum), each at most 1: exp8 is bounded and hides NaN, whose term is 10^38. So a larger
/// sum says, at no cost, that some x was NaN, or infinite together with the maximum.
HWY_INLINE bool of_numbers(double sum, int n) {
    return sum <= 2.0 * n;
}

float ExpMinusMax(float* x, int n, float* sum) {
    const float maximum = MaxOf(x, n);
    const F8 shift = set8(maximum);
    F8 s = zero8();
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        const F8 e = exp8(Sub(load8(x + i), shift));
        store8(e, x + i);
        s = Add(s, e);
    }
    if (i < n) {
        const F8 e = exp8(Sub(load_tail(x + i, n - i, -INFINITY), shift));
        store_tail(e, n - i, x + i);
        s = Add(s, e);
    }
    *sum = sum8(s);
    if (!of_numbers(*sum, n)) *sum = NAN;
    return maximum;
}

double LogSumExp(const float* x, int n) {
    const float maximum = MaxOf(x, n);
    const F8 shift = set8(maximum);
    D8 sum;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        sum.add(exp8(Sub(load8(x + i), shift)));
    if (i < n) sum.add(exp8(Sub(load_tail(x + i, n - i, -INFINITY), shift)));
    const double total = sum.sum();
    return of_numbers(total, n) ? double(maximum) + std::log(total) : NAN;
}

/// p (d - 1 + e^-d) for p = exp(log_p), d = log p - log q: never negative, and its sum over a vocabulary is the
/// divergence.
HWY_INLINE F8 divergence_term(F8 log_p, F8 log_q, F8 d) {
    const F8 p = exp8(log_p);
    // |d| < 1/4: d^2/2 - d^3/6 + ..., where the closed form would cancel to noise; truncated at 1e-8 relative.
    F8 series = set8(-1.0f / 362880.0f);
    series = MulAdd(series, d, set8(1.0f / 40320.0f));
    series = MulAdd(series, d, set8(-1.0f / 5040.0f));
    series = MulAdd(series, d, set8(1.0f / 720.0f));
    series = MulAdd(series, d, set8(-1.0f / 120.0f));
    series = MulAdd(series, d, set8(1.0f / 24.0f));
    series = MulAdd(series, d, set8(-1.0f / 6.0f));
    series = MulAdd(series, d, set8(0.5f));
    const F8 near = Mul(Mul(p, Mul(d, d)), series);
    if (all_less(Abs(d), set8(0.25f))) return near;
    const F8 far = Add(Mul(p, d), Sub(exp8(log_q), p));
    return if_less(Abs(d), set8(0.25f), near, far);
}

/// A normalizer in two floats, so that log-probabilities lose nothing to its rounding.
struct Normalizer {
    F8 high, low;
    HWY_INLINE explicit Normalizer(double lse) : high(set8(float(lse))), low(set8(float(lse - double(float(lse))))) {}
    HWY_INLINE F8 log_probability(F8 logit) const { return Sub(Sub(logit, high), low); }
};

// KL = sum p d with d = log p - log q. Written as sum p (d - 1 + e^-d), equal because p and q both sum to 1, small
// rounding errors of the two normalizers enter only to second order, so the divergence of nearly equal distributions is
// not noise. d is formed as (a - b) - (lse_a - lse_b): the first difference is exact for close logits.
double KlDivergence(const float* a, double lse_a, const float* b, double lse_b, int n) {
    const Normalizer p(lse_a), q(lse_b);
    const F8 delta = set8(float(lse_a - lse_b));
    D8 sum;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        const F8 x = load8(a + i), y = load8(b + i);
        sum.add(divergence_term(p.log_probability(x), q.log_probability(y), Sub(Sub(x, y), delta)));
    }
    double tail = 0;
    if (i < n) {
        const F8 x = load_tail(a + i, n - i, 0), y = load_tail(b + i, n - i, 0);
        float terms[8];
        store8(divergence_term(p.log_probability(x), q.log_probability(y), Sub(Sub(x, y), delta)), terms);
        for (int k = 0; k < n - i; ++k)
            tail += double(terms[k]);
    }
    return sum.sum() + tail;
}

int ArgMax(const float* x, int n) {
    const float maximum = MaxOf(x, n);
    for (int i = 0; i < n; ++i)
        if (x[i] == maximum) return i;
    return 0;  // only NaN
}

int NextAbove(const float* x, int begin, int n, float threshold) {
    int i = begin;
    for (const F8 limit = set8(threshold); i + 8 <= n && !any_less(limit, load8(x + i)); i += 8) {
    }
    while (i < n && !(x[i] > threshold))
        ++i;
    return i;
}

void Hadamard(float* x, int n) {
    const float factor = 1.0f / std::sqrt(float(n));
    if (n < 8) {
        for (int h = 1; h < n; h *= 2)
            for (int i = 0; i < n; ++i)
                if ((i & h) == 0) {
                    const float a = x[i], b = x[i + h];
                    x[i] = a + b;
                    x[i + h] = a - b;
                }
        for (int i = 0; i < n; ++i)
            x[i] *= factor;
        return;
    }
    for (int i = 0; i < n; i += 8)
        store8(butterfly8(load8(x + i)), x + i);
    for (int h = 8; h < n; h *= 2)
        for (int block = 0; block < n; block += 2 * h)
            for (int i = block; i < block + h; i += 8) {
                const F8 a = load8(x + i), b = load8(x + i + h);
                store8(Add(a, b), x + i);
                store8(Sub(a, b), x + i + h);
            }
    Scale(factor, n, x);
}

void HalfToFloat(const uint16_t* x, int n, float* y) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        store8(load_half8(x + i), y + i);
    for (; i < n; ++i)
        y[i] = half_to_float(x[i]);
}

void FloatToHalf(const float* x, int n, uint16_t* y) {
    int i = 0;
    for (; i + 8 <= n; i += 8)
        store_half8(load8(x + i), y + i);
    for (; i < n; ++i)
        y[i] = float_to_half(x[i]);
}

const char* TargetName() {
    return hwy::TargetName(HWY_TARGET);
}

}  // namespace kvasir::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvasir::kernels {

HWY_EXPORT(RmsNorm);
HWY_EXPORT(RopeHalves);
HWY_EXPORT(SiluMul);
HWY_EXPORT(AddTo);
HWY_EXPORT(Scale);
HWY_EXPORT(ExpMinusMax);
HWY_EXPORT(LogSumExp);
HWY_EXPORT(KlDivergence);
HWY_EXPORT(ArgMax);
HWY_EXPORT(NextAbove);
HWY_EXPORT(Hadamard);
HWY_EXPORT(HalfToFloat);
HWY_EXPORT(FloatToHalf);
HWY_EXPORT(TargetName);

void rms_norm(const float* x, const float* w, int n, float eps, float* y) {
    HWY_DYNAMIC_DISPATCH(RmsNorm)(x, w, n, eps, y);
}
void rope_halves(float* x, const float* cos, const float* sin, int n) {
    HWY_DYNAMIC_DISPATCH(RopeHalves)(x, cos, sin, n);
}
void silu_mul(const float* gate, const float* up, int n, float* out) {
    HWY_DYNAMIC_DISPATCH(SiluMul)(gate, up, n, out);
}
void add(const float* x, int n, float* y) {
    HWY_DYNAMIC_DISPATCH(AddTo)(x, n, y);
}
void scale(float factor, int n, float* x) {
    HWY_DYNAMIC_DISPATCH(Scale)(factor, n, x);
}
float exp_minus_max(float* x, int n, float* sum) {
    return HWY_DYNAMIC_DISPATCH(ExpMinusMax)(x, n, sum);
}
double log_sum_exp(const float* x, int n) {
    return HWY_DYNAMIC_DISPATCH(LogSumExp)(x, n);
}
double kl_divergence(const float* a, double lse_a, const float* b, double lse_b, int n) {
    return HWY_DYNAMIC_DISPATCH(KlDivergence)(a, lse_a, b, lse_b, n);
}
int arg_max(const float* x, int n) {
    return HWY_DYNAMIC_DISPATCH(ArgMax)(x, n);
}
int next_above(const float* x, int begin, int n, float threshold) {
    return HWY_DYNAMIC_DISPATCH(NextAbove)(x, begin, n, threshold);
}
void hadamard(float* x, int n) {
    HWY_DYNAMIC_DISPATCH(Hadamard)(x, n);
}
void half_to_float(const uint16_t* x, int n, float* y) {
    HWY_DYNAMIC_DISPATCH(HalfToFloat)(x, n, y);
}
void float_to_half(const float* x, int n, uint16_t* y) {
    HWY_DYNAMIC_DISPATCH(FloatToHalf)(x, n, y);
}
const char* simd_name() {
    return HWY_DYNAMIC_DISPATCH(TargetName)();
}

}  // namespace kvasir::kernels
#endif  // HWY_ONCE
