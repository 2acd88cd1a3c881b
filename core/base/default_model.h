// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kvasir {

/// Where tools/fetch-model puts the default model: $KVASIR_MODEL, else
/// ${XDG_DATA_HOME:-~/.local/share}/kvasir/models/SmolLM2-135M-Instruct.Q4_1.gguf. The file need not be there.
std::string default_model_path();

}  // namespace kvasir
