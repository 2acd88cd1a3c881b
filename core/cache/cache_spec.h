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
    enum class Codec {
        fp32,
        fp16,
        affine,   ///< scale and offset per group: Quanto, KIVI, kv-hadamard, QuaRot
        hqq,      ///< HQQ
        ternary,  ///< kv-hadamard's failed one: -1, 0, +1 times a scale
        ggml,     ///< llama.cpp blocks of 32; bits and form say which
        turbo,    ///< TurboQuant: unit vectors on a Lloyd-Max grid, times their norm
        exl3,     ///< exllamav3: mid-rise grid on rotated groups of 32
        fp8       ///< e4m3, one constant scale
    };
    enum class Axis {
        token,    ///< groups of consecutive elements of the flattened tensor (Quanto axis 0, HQQ axis 1, KIVI values)
        channel,  ///< groups of consecutive tokens of one channel (KIVI keys)
        rows,     ///< Quanto axis -1: channel groups over flattened (head, token) rows
        strided,  ///< HQQ axis 0: members N/G apart in the flattened tensor
    };
    /// What the constants of an affine group are and which of them the codes are computed from.
    enum class Form {
        shift,        ///< Quanto: shift = -min, codes from the fp16-rounded scale
        minimum,      ///< KIVI: minimum, codes from the fp16-rounded scale
        minimum_f32,  ///< kv-hadamard: minimum, codes from the unrounded fp32 scale and minimum
        quarot,       ///< QuaRot: as shift, with the range never below 1e-5
        integer,      ///< Quanto up to 0.2.2: an int8 zero point in code units
        symmetric     ///< ggml q8_0, q4_0, q5_0: no offset, the middle code is zero
    };
    /// Size of the rotated blocks, besides powers of two.
    static constexpr int kNoRotation = 0, kWholeHead = -1;
    static constexpr int kLlamaBlocks = -2;  ///< llama.cpp: K in the largest 64 * 2^n that divides head_dim, V in 64s;
                                             ///< not at all where 64 does not divide it
    Codec codec = Codec::fp16;
    int bits = 16;
    int group = 0;  ///< group_size; 0 for exact codecs
    Axis axis = Axis::token;
    Form form = Form::shift;
    int rotation_block =
        kNoRotation;        ///< Hadamard rotation: kNoRotation, kWholeHead, kLlamaBlocks or the size of its blocks
    bool signs = false;     ///< fixed random signs before the rotation
    bool pairs = false;     ///< channels in GGUF's order (pair j of RoPE is 2j, 2j+1) before anything else
    bool centre = false;    ///< keys: subtract the channel mean of the first tokens stored (softmax does not see it)
    bool pre_rope = false;  ///< keys: store them before RoPE, which is applied when they are read
    bool optimize = false;  ///< HQQ's proximal optimizer
    float fp8_scale = 1;    ///< value = e4m3 * scale

    /// Values are kept as they are (in whatever space): no codes.
    bool exact() const { return codec == Codec::fp32 || codec == Codec::fp16; }
    /// Stored as they came: exact, unrotated, not centred.
    bool plain() const { return exact() && rotation_block == kNoRotation && !centre && !pre_rope; }
    bool rotates() const { return rotation_block != kNoRotation; }
    friend bool operator==(const SideSpec&, const SideSpec&) = default;
};

/// When exact tokens move into quantized storage.
enum class FlushRule {
    none,   ///< never: exact caches
    write,  ///< every token when it is written, prompt included, before any attention reads it
    whole,  ///< Transformers: the whole prompt at once, then the whole cache every `residual` steps
    block,  ///< KIVI keys: whole blocks of `residual` tokens
    slide   ///< KIVI values: all but the last `residual` tokens
};

/// Other schemes for some layers: `layers=0-1:fp16`.
struct LayerRule {
    int first = 0, last = 0;  ///< layers, both included
    bool k = true, v = true;  ///< sides it replaces
    std::string preset;       ///< where the replacing sides come from
    friend bool operator==(const LayerRule&, const LayerRule&) = default;
};

struct CacheSpec {
    SideSpec k, v;
    FlushRule flush_k = FlushRule::none, flush_v = FlushRule::none;
    int residual_k = 0, residual_v = 0;  ///< residual_length per side
    int sink = 0;                        ///< first tokens that stay exact
    bool flush_first = false;            ///< while decoding the flush comes before the step's attention, not after it
    std::vector<LayerRule> layers;       ///< later ones win
    std::string text = "fp16";           ///< as the user wrote it (preset form)

    friend bool operator==(const CacheSpec&, const CacheSpec&) = default;

    bool exact() const { return k.exact() && v.exact() && layers.empty(); }
    /// The cache reads back what it was given, whenever it is read: nothing is ever quantized, rotated or centred.
    bool keeps_everything() const { return k.plain() && v.plain() && layers.empty(); }
    /// False: KvCache::commit does nothing, in no layer. A quick answer: true wherever there are layer rules.
    bool may_commit() const {
        return flush_first || flush_k == FlushRule::write || flush_v == FlushRule::write || !layers.empty();
    }
    /// Some side of some of a model's n_layers layers codes tokens as it writes them, so that already the attention
    /// over a prompt reads them from the store. (flush_first concerns decoding only.)
    bool quantizes_as_it_writes(int n_layers) const;
    const SideSpec& side(Side s) const { return s == Side::k ? k : v; }
    /// Does attention over a prompt read the same values under both schemes? Schemes that do not quantize as they
    /// write read their prompt exactly, so only the precision at the cache's door matters. Lanes that agree can share
    /// one prompt pass.
    bool same_prompt_attention(const CacheSpec& o) const;
    /// Same scheme, whatever the text says.
    bool same_scheme(const CacheSpec& o) const;
    /// What one layer uses: this without `layers`, its sides replaced where a rule says so.
    CacheSpec at_layer(int layer) const;
};

/// fp16 constants that a group of this side stores besides its codes: 0, 1 (scale) or 2 (scale and offset).
int constants_per_group(const SideSpec& side);

/// The side with group_size 0 (one group per token and head) put in numbers.
SideSpec group_at(SideSpec side, int head_dim);

/// Sides of one scheme in another one: codec, flush rule and residual length. Plain exact sides never flush.
void take_side(CacheSpec& to, const CacheSpec& from, Side side);

/// Parses the preset form (`quanto:4,residual=32`) or the long form (`k=affine4:group=64:...; v=...; residual=128;
/// flush=whole`). A refusal names the key, what it may be, and the nearest valid one.
Result<CacheSpec> parse_cache_spec(std::string_view text);

/// The long form: parse_cache_spec(long_spec(s)) gives the same scheme.
std::string long_spec(const CacheSpec& spec);

/// Says whether the scheme can store this geometry; the error explains why not and what would do. n_layers 0: any
/// number, so that rules for layers that do not exist are not found.
Status check_geometry(const CacheSpec& spec, int n_kv_heads, int head_dim, int n_layers = 0);

/// Nominal bits per value (codes and group constants, no residual), mean of K and V and of n_layers layers. Rules for
/// layers count: without a number of layers (0) a spec that has some has no figure, and gives NaN.
double nominal_bits_per_value(const CacheSpec& spec, int head_dim, int n_layers = 0);

/// One option of a preset, for the command line's list and the window's editor.
struct PresetOption {
    std::string key;                   ///< e.g. "residual"
    std::string default_value;         ///< e.g. "128"
    std::vector<std::string> choices;  ///< empty: any number from minimum to maximum
    int minimum = 0, maximum = 0;
    std::string help;      ///< one sentence
    bool is_text = false;  ///< neither choices nor a number: `layers`
    bool is_real = false;  ///< a number with decimals
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
