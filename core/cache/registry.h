// SPDX-License-Identifier: GPL-3.0-or-later
// The table behind presets(): a new scheme is one row here (and one file, where it needs a new codec or storage).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cache/cache_spec.h"

namespace kvasir {

/// An option with what it changes. The choices "on" and "off" are 1 and 0.
struct SchemeOption {
    PresetOption shown;
    void (*apply)(CacheSpec& spec, double value);
};

struct SchemeRow {
    std::string name, title, origin;
    CacheSpec scheme;  ///< with every option at its default
    std::vector<SchemeOption> options;
    std::string keys_from;  ///< preset of the keys, where the published system takes them from another one
};

const std::vector<SchemeRow>& scheme_rows();
const SchemeRow* find_scheme(std::string_view name);

/// Options that every preset takes besides its own: sink, layers, layers_k, layers_v.
const std::vector<PresetOption>& policy_options();

}  // namespace kvasir
