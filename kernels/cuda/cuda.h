// SPDX-License-Identifier: GPL-3.0-or-later
// What the rest of the program may know about CUDA: no CUDA types, so that everything builds without it.
#pragma once

#include <string>

namespace kvasir::kernels {

/// Whether this build contains CUDA kernels.
bool cuda_built();

/// Whether they can run here: built, and a device answers.
bool cuda_available();

/// One sentence for the user: what runs on the GPU, or why everything runs on the CPU.
std::string cuda_status();

}  // namespace kvasir::kernels
