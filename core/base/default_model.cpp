// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/default_model.h"

#include <cstdlib>

namespace kvasir {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

std::string default_model_path() {
    if (const std::string own = environment("KVASIR_MODEL"); !own.empty()) return own;
    std::string data = environment("XDG_DATA_HOME");
    if (data.empty()) data = environment("HOME") + "/.local/share";
    return data + "/kvasir/models/SmolLM2-135M-Instruct.Q4_1.gguf";
}

}  // namespace kvasir
