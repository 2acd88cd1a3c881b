// SPDX-License-Identifier: GPL-3.0-or-later
// Linked where there are no CUDA kernels.
#include "kernels/cuda/cuda.h"

namespace kvasir::kernels {

bool cuda_built() {
    return false;
}

bool cuda_available() {
    return false;
}

std::string cuda_status() {
    return "Everything runs on the CPU: this version contains no CUDA kernels.";
}

}  // namespace kvasir::kernels
