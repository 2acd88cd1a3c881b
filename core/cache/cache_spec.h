// SPDX-License-Identifier: GPL-3.0-or-later
// What a cache is, as a value and as text: two codecs and a policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace kvasir {

enum class Side { k, v };

/// How K or V is coded.
struct SideSpec {
    enum class Codec { fp32, fp16, affine, hqq };
    enum class Axis {
        token,    ///< groups of consecutive elements of the flattened tensor (Quanto axis 0, HQQ axis 1, KIVI values)
        channel,  ///< groups of consecutive tokens of one channel (KIVI keys)
        rows,     ///< Quanto axis -1: channel groups over flattened (head, token) rows
        strided,  ///< HQQ axis 0: members N/G apart in the flattened tensor
    };
    /// What the constants of an affine group are and which of them the codes are computed from.
    enum class Form {
        shift,       ///< Quanto: shift = -min, codes from the fp16-rounded scale
        minimum,     ///< KIVI: minimum, codes from the fp16-rounded scale
        minimum_f32  ///< kv-hadamard: minimum, codes from the unrounded fp32 scale and minimum
    };
    Codec codec = Codec::fp16;
    int bits = 16;
    int group = 0;  ///< group_size; 0 for exact codecs
    Axis axis = Axis::token;
    Form form = Form::shift;
    bool rotate = false;    ///< Hadamard rotation over head_dim
    bool optimize = false;  ///< HQQ's proximal optimizer

    bool exact() const { return codec == Codec::fp32 || codec == Codec::fp16; }
    friend bool operator==(const SideSpec&, const SideSpec&) = default;
};

/// When exact tokens move into quantized storage.
enum class FlushRule {
    none,   ///< never: exact caches
    whole,  ///< Transformers: the whole prompt at once, then the whole cache every `residual` steps
    block,  ///< KIVI keys: whole blocks of `residual` tokens
    slide   ///< KIVI values: all but the last `residual` tokens
};

struct CacheSpec {
    SideSpec k, v;
    FlushRule flush_k = FlushRule::none, flush_v = FlushRule::none;
    int residual_k = 0, residual_v = 0;  ///< residual_length per side
    std::string text = "fp16";           ///< as the user wrote it (preset form)

    friend bool operator==(const CacheSpec&, const CacheSpec&) = default;

    bool exact() const { return k.exact() && v.exact(); }
    const SideSpec& side(Side s) const { return s == Side::k ? k : v; }
    /// Does attention over a prompt read the same values under both schemes? Every preset reads its prompt exactly, so
    /// only the precision at the cache's door matters. Lanes that agree can share one prompt pass.
    bool same_prompt_attention(const CacheSpec& o) const {
        const auto wide = [](const SideSpec& s) { return s.codec == SideSpec::Codec::fp32; };
        return wide(k) == wide(o.k) && wide(v) == wide(o.v);
    }
    /// Same scheme, whatever the text says.
    bool same_scheme(const CacheSpec& o) const {
        return k == o.k && v == o.v && flush_k == o.flush_k && flush_v == o.flush_v && residual_k == o.residual_k &&
               residual_v == o.residual_v;
    }
};

/// Parses the preset form (`quanto:4,residual=32`) or the long form (`k=affine4:group=64:...; v=...; residual=128;
/// flush=whole`). A refusal names the key, what it may be, and the nearest valid one.
Result<CacheSpec> parse_cache_spec(std::string_view text);

/// The long form: parse_cache_spec(long_spec(s)) gives the same scheme.
std::string long_spec(const CacheSpec& spec);

/// Says whether the scheme can store this geometry; the error explains why not and what would do.
Status check_geometry(const CacheSpec& spec, int n_kv_heads, int head_dim);

/// Nominal bits per value (codes and group constants, no residual), mean of K and V.
double nominal_bits_per_value(const CacheSpec& spec, int head_dim);

/// One option of a preset, for the command line's list and the window's editor.
struct PresetOption {
    std::string key;                   ///< e.g. "residual"
    std::string default_value;         ///< e.g. "128"
    std::vector<std::string> choices;  ///< empty: any number from minimum to maximum
    int minimum = 0, maximum = 0;
    std::string help;  ///< one sentence
};

/// One row of the registry.
struct Preset {
    std::string name;    ///< "quanto:4"
    std::string title;   ///< "Quanto int4"
    std::string origin;  ///< what published system it reproduces, with version
    std::vector<PresetOption> options;
};

/// Every preset, in the order they are listed: an explicit table.
const std::vector<Preset>& presets();

/// Title of a spec for people, e.g. "Quanto int4" plus what was bent: "Quanto int4, residual 32".
std::string display_name(const CacheSpec& spec);

}  // namespace kvasir
