// SPDX-License-Identifier: GPL-3.0-or-later
// Orders that are no powers of two: H_m x H_2^n (Kronecker), H_m from quadratic residues (Paley 1933), as QuaRot and
// exllama do with tables.
//
// Worked examples: H8 / sqrt(8), H[i][j] = (-1)^popcount(i & j) (Sylvester), rotates [-1.25, -0.5, -0.1, 0, 0.3, 0.75,
// 1, 2] in fp16 into 0.777843 -0.813147 -1.272784 -0.035347 -2.085974 0.212123 0.106040 -0.424290, and that back. Order
// 12 is Paley's first construction with p = 11; row 1 of sqrt(12) H is -1 1 -1 1 -1 -1 -1 1 1 1 -1 1.
#include "core/cache/rotation.h"

#include <cmath>
#include <numeric>

#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

bool is_prime(int n) {
    if (n < 2) return false;
    for (int i = 2; i * i <= n; ++i)
        if (n % i == 0) return false;
    return true;
}

/// +1 where a is a square modulo the prime p, -1 where not, 0 for 0.
int character(int a, int p) {
    a = (a % p + p) % p;
    if (a == 0) return 0;
    for (int i = 1; i < p; ++i)
        if (i * i % p == a) return 1;
    return -1;
}

enum class Construction { none, one, paley1, paley2 };

Construction construction_of(int m) {
    if (m == 1) return Construction::one;
    if (m % 4 == 0 && is_prime(m - 1) && (m - 1) % 4 == 3) return Construction::paley1;
    if (m % 4 == 0 && is_prime(m / 2 - 1) && (m / 2 - 1) % 4 == 1) return Construction::paley2;
    return Construction::none;
}

/// The factor m of order = m * 2^n with the largest n that can be constructed; 0: none.
int odd_factor(int order) {
    int m = order;
    while (m % 2 == 0)
        m /= 2;
    for (; m <= order && order % m == 0; m *= 2)
        if (construction_of(m) != Construction::none) return m;
    return 0;
}

/// Row 0 all +1, column 0 all -1 below, core chi(i - j) with +1 on the diagonal.
std::vector<float> paley1(int m) {
    std::vector<float> h(size_t(m) * size_t(m), 1.0f);
    for (int i = 1; i < m; ++i) {
        h[size_t(i * m)] = -1;
        for (int j = 1; j < m; ++j)
            h[size_t(i * m + j)] = i == j ? 1.0f : float(character(i - j, m - 1));
    }
    return h;
}

/// Symmetric: C x [[1, 1], [1, -1]] + I x [[1, -1], [-1, -1]] with the conference matrix C of order q + 1.
std::vector<float> paley2(int m) {
    const int half = m / 2;
    std::vector<float> h(size_t(m) * size_t(m));
    for (int i = 0; i < half; ++i)
        for (int j = 0; j < half; ++j) {
            const int c = i == j ? 0 : i == 0 || j == 0 ? 1 : character(i - j, half - 1);
            const int one = i == j;
            float* block = h.data() + size_t(2 * i * m + 2 * j);
            block[0] = float(c + one), block[1] = float(c - one);
            block[m] = float(c - one), block[m + 1] = float(-c - one);
        }
    return h;
}

std::vector<float> orthonormal(int m) {
    std::vector<float> h = construction_of(m) == Construction::paley1 ? paley1(m) : paley2(m);
    const float factor = 1.0f / std::sqrt(float(m));
    for (float& x : h)
        x *= factor;
    return h;
}

/// Fixed for every model and run, so that codes can be compared: the top bits of a 64-bit linear congruence.
std::vector<float> fixed_signs(int n) {
    std::vector<float> signs;
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        signs.push_back(state >> 63 ? -1.0f : 1.0f);
    }
    return signs;
}

}  // namespace

int rotation_block(const SideSpec& side, Side which, int head_dim) {
    if (side.rotation_block == SideSpec::kWholeHead) return head_dim;
    if (side.rotation_block != SideSpec::kLlamaBlocks) return side.rotation_block;
    if (head_dim % 64 != 0) return 0;
    int block = 64;
    while (which == Side::k && head_dim % (2 * block) == 0)
        block *= 2;
    return block;
}

bool has_hadamard(int order) {
    return order >= 1 && odd_factor(order) > 0;
}

Rotation::Rotation(const SideSpec& side, Side which, int head_dim)
    : head_dim_(head_dim), block_(rotation_block(side, which, head_dim)), pairs_(side.pairs) {
    if (block_ == 0) return;
    if (side.signs) signs_ = fixed_signs(head_dim);
    m_ = odd_factor(block_);
    if (m_ > 1) matrix_ = orthonormal(m_);
}

/// Multiplies each block by H_m x H_2^n or its transpose (H_2^n is symmetric).
void Rotation::apply(float* x, bool transposed) const {
    const int width = block_ / m_;
    for (int begin = 0; begin < head_dim_; begin += block_) {
        float* block = x + begin;
        for (int i = 0; i < m_; ++i)
            kernels::hadamard(block + i * width, width);
        if (m_ == 1) continue;
        thread_local std::vector<float> rows;
        rows.assign(block, block + block_);
        for (int i = 0; i < m_; ++i)
            for (int c = 0; c < width; ++c) {
                float sum = 0;
                for (int j = 0; j < m_; ++j)
                    sum += matrix_[size_t(transposed ? j * m_ + i : i * m_ + j)] * rows[size_t(j * width + c)];
                block[i * width + c] = sum;
            }
    }
}

void Rotation::forward(float* x) const {
    if (pairs_) {
        thread_local std::vector<float> halves;
        halves.assign(x, x + head_dim_);
        for (int j = 0; j < head_dim_ / 2; ++j) {
            x[2 * j] = halves[size_t(j)];
            x[2 * j + 1] = halves[size_t(j + head_dim_ / 2)];
        }
    }
    if (block_ == 0) return;
    for (size_t d = 0; d < signs_.size(); ++d)
        x[d] *= signs_[d];
    apply(x, false);
}

void Rotation::inverse(float* x) const {
    if (block_ != 0) {
        apply(x, true);
        for (size_t d = 0; d < signs_.size(); ++d)
            x[d] *= signs_[d];
    }
    if (!pairs_) return;
    thread_local std::vector<float> in_pairs;
    in_pairs.assign(x, x + head_dim_);
    for (int j = 0; j < head_dim_ / 2; ++j) {
        x[j] = in_pairs[size_t(2 * j)];
        x[j + head_dim_ / 2] = in_pairs[size_t(2 * j + 1)];
    }
}

}  // namespace kvasir
