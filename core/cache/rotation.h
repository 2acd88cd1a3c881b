// SPDX-License-Identifier: GPL-3.0-or-later
// How the vectors of one side are rotated before they are coded: channel order, random signs, Hadamard blocks. All of
// it is orthogonal, so scores of rotated queries and rotated keys are those of the plain ones.
#pragma once

#include <vector>

#include "core/cache/cache_spec.h"

namespace kvasir {

/// Size of the Hadamard blocks a side uses at this head size; 0: it is not rotated. (llama.cpp PR 21038 for
/// kLlamaBlocks.)
int rotation_block(const SideSpec& side, Side which, int head_dim);

/// True when an orthonormal Hadamard matrix of this order can be made: m * 2^n with m = 1, a Paley I order p + 1 or a
/// Paley II order 2(q + 1).
bool has_hadamard(int order);

class Rotation {
 public:
    Rotation() = default;
    /// PRECONDITION: check_geometry accepted the side.
    Rotation(const SideSpec& side, Side which, int head_dim);

    bool identity() const { return block_ == 0 && !pairs_; }
    /// Into the stored space and back, x (head_dim) in place.
    void forward(float* x) const;
    void inverse(float* x) const;

 private:
    void apply(float* x, bool transposed) const;

    int head_dim_ = 0, block_ = 0;
    bool pairs_ = false;
    std::vector<float> signs_;   ///< (head_dim) of +1 and -1; empty: none
    int m_ = 1;                  ///< block = m * 2^n
    std::vector<float> matrix_;  ///< (m, m), orthonormal; Paley matrices are not symmetric
};

}  // namespace kvasir
