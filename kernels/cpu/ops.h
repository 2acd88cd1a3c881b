// SPDX-License-Identifier: GPL-3.0-or-later
// Small vector operations of a Llama step. Each sums in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvasir::kernels {

/// y = x / sqrt(mean(x^2) + eps) * w, all (n).
void rms_norm(const float* x, const float* w, int n, float eps, float* y);

/// Rotates (x[i], x[i + n/2]) by (cos[i], sin[i]) in place, x (n): the rotate-half form of RoPE.
void rope_halves(float* x, const float* cos, const float* sin, int n);

/// out = silu(gate) * up, (n).
void silu_mul(const float* gate, const float* up, int n, float* out);

/// y += x, (n).
void add(const float* x, int n, float* y);

/// x *= factor, (n).
void scale(float factor, int n, float* x);

/// Replaces x by exp(x - max(x)) in place; returns the maximum and writes the sum of the results.
/// exp is within 1.0 ulp; results below exp(-87.3) become 0. The sum is NaN when some x is.
float exp_minus_max(float* x, int n, float* sum);

/// Natural logarithm of the sum of exp(x), (n), accumulated in double: for log-probabilities over a vocabulary. NaN
/// when some x is NaN or +infinity.
double log_sum_exp(const float* x, int n);

/// KL(p || q) in nats for p = softmax(a), q = softmax(b), (n), accumulated in double. lse_* = log_sum_exp of each.
double kl_divergence(const float* a, double lse_a, const float* b, double lse_b, int n);

/// Index of the largest element; the first one on a tie.
int arg_max(const float* x, int n);

/// Index of the first element of [begin, n) that is larger than `threshold`; n when there is none.
int next_above(const float* x, int begin, int n, float threshold);

/// Orthonormal Sylvester-Hadamard transform in place: butterflies h = 1, 2, 4 ... in fp32, then the factor 1/sqrt(n).
/// n a power of two.
void hadamard(float* x, int n);

/// Bulk conversions, round to nearest even.
void half_to_float(const uint16_t* x, int n, float* y);
void float_to_half(const float* x, int n, uint16_t* y);

/// Name of the instruction set the kernels run on, e.g. "AVX2".
const char* simd_name();

}  // namespace kvasir::kernels
