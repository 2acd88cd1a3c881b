// SPDX-License-Identifier: GPL-3.0-or-later
// Reads tokenizer.ggml.*: every id is range-checked once, here, defaults included.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/utf8.h"
#include "core/model/gguf.h"
#include "core/model/tokenizer_impl.h"

namespace kvasir {

namespace {

constexpr std::string_view kEndTexts[] = {
    "<|eot_id|>",      "<|im_end|>", "<|end|>",    "<end_of_turn>", "<|endoftext|>",
    "<|end_of_text|>", "</s>",       "<|eom_id|>", "<EOT>",         "[EOS]"};
constexpr const char* kEndKeys[] = {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"};
constexpr const char* kOtherKeys[] = {
    "bos",  "unknown", "seperator", "padding",  // "seperator" is the format's spelling
    "mask", "fim_pre", "fim_suf",   "fim_mid"};
constexpr uint64_t kMaxTokens = uint64_t(1) << 30;

std::string key_of(std::string_view name) {
    return fmt::format("tokenizer.ggml.{}", name);
}

class Loader {
 public:
    using Kind = Tokenizer::Impl::Kind;
    Loader(const GgufFile& file, Tokenizer::Impl& out) : file_(file), out_(out) {}

    Status load() {
        model();
        if (!error_) tokens();
        if (!error_) ids();
        if (!error_) encoder();
        if (error_) return *error_;
        flags();
        return {};
    }

 private:
    void refuse(std::string why, std::string hint = {}) {
        if (!error_) error_ = file_.refusal(std::move(why), std::move(hint));
    }
    void warn(std::string text) { out_.warnings.push_back(std::move(text)); }

    void model() {
        const auto name = file_.string("tokenizer.ggml.model");
        if (!name) return refuse("tokenizer.ggml.model is missing or not a string");
        if (*name != "gpt2" && *name != "llama")
            return refuse(fmt::format("tokenizer model \"{}\" is not supported", printable(*name)),
                          "Open a model whose tokenizer is of kind gpt2 or llama.");
        out_.kind = *name == "gpt2" ? Kind::byte_level : Kind::sentence_piece;
    }

    void tokens() {
        const auto list = file_.strings("tokenizer.ggml.tokens");
        if (!list || list->empty() || list->size() > kMaxTokens)
            return refuse("tokenizer.ggml.tokens is missing or not a list of strings");
        texts_ = *list;
        if (file_.has("tokenizer.ggml.scores")) {
            auto scores = file_.reals("tokenizer.ggml.scores");
            if (!scores) return void(error_ = scores.error());
            if (!same_length("scores", scores->size())) return;
            scores_ = std::move(*scores);
            if (std::any_of(scores_.begin(), scores_.end(), [](float s) { return s != s; }))
                return refuse("tokenizer.ggml.scores contains NaN");
        }
        out_.types.assign(texts_.size(), TokenType::normal);
        if (file_.has("tokenizer.ggml.token_type")) {
            const auto types = file_.integers("tokenizer.ggml.token_type");
            if (!types) return void(error_ = types.error());
            if (!same_length("token_type", types->size())) return;
            for (size_t i = 0; i < texts_.size(); ++i)
                if ((*types)[i] >= 0 && (*types)[i] <= int(TokenType::byte)) out_.types[i] = TokenType((*types)[i]);
        }
        pieces();
    }

    bool same_length(const char* what, size_t n) {
        if (n == texts_.size()) return true;
        refuse(fmt::format("tokenizer.ggml.{} has {} entries for {} tokens", what, n, texts_.size()));
        return false;
    }

    // Fills the raw bytes of every token.
    void pieces() {
        size_t bytes = 0, empty = 0, invalid = 0, repeated = 0;
        for (const std::string_view text : texts_)
            bytes += text.size();
        out_.pieces.reserve(texts_.size(), bytes);
        StringTable seen;
        seen.reserve(texts_.size(), bytes);
        std::string raw;
        for (size_t i = 0; i < texts_.size(); ++i) {
            const std::string_view text = texts_[i];
            const TokenType type = out_.types[i];
            empty += text.empty();
            invalid += !is_valid_utf8(text);
            raw.clear();
            if (type == TokenType::byte) {
                const int byte = spm_byte(text);
                if (byte < 0)
                    return refuse(
                        fmt::format("token {} is a byte token but its text is \"{}\"", i, printable(text, 60)));
                raw += char(byte);
            } else if (is_special(type)) {
                raw = text;
            } else if (out_.kind == Kind::byte_level) {
                append_gpt2_bytes(raw, text);
            } else {
                append_spm_text(raw, text);
            }
            const int id = out_.pieces.add(raw);
            // Plain text never turns into control tokens, whatever the merges say.
            const bool reachable = type != TokenType::control && type != TokenType::unknown && !raw.empty();
            if (out_.kind == Kind::byte_level && reachable) out_.pieces.make_findable(id);
            seen.add(text);
            repeated += seen.find(text) >= 0;
            seen.make_findable(id);
            if (is_special(type) && !raw.empty()) out_.cut.push_back(id);
        }
        if (empty) warn(fmt::format("{} tokens have an empty text", empty));
        if (invalid) warn(fmt::format("{} token texts are not UTF-8", invalid));
        if (repeated) warn(fmt::format("{} token texts occur more than once", repeated));
        std::stable_sort(out_.cut.begin(), out_.cut.end(),
                         [&](int a, int b) { return out_.pieces.at(a).size() > out_.pieces.at(b).size(); });
    }

    static bool is_special(TokenType type) {
        return type == TokenType::control || type == TokenType::user_defined || type == TokenType::unknown;
    }

    // -1: the key is missing and has no default.
    int id(const char* name, int absent = -1) {
        const std::string key = key_of(fmt::format("{}_token_id", name));
        int64_t value = absent;
        if (file_.has(key)) {
            const auto given = file_.integer(key, 0, UINT32_MAX);
            if (!given) return error_ ? -1 : (error_ = given.error(), -1);
            value = *given;
        }
        if (value >= out_.size()) {
            refuse(fmt::format("{} token id {} is outside the vocabulary of {}", name, value, out_.size()));
            return -1;
        }
        return int(value);
    }

    // llama.cpp's defaults for missing keys; for byte-level files its id 11 ends a text only where that is a control
    // token, and begins none: what stands in front of every text is not guessed.
    int default_id(const char* name, int spm, int byte_level) {
        const bool is_spm = out_.kind == Kind::sentence_piece;
        if (!is_spm && byte_level >= out_.size() && !file_.has(key_of(fmt::format("{}_token_id", name)))) return -1;
        const int found = id(name, is_spm ? spm : byte_level);
        if (is_spm || found < 0 || file_.has(key_of(fmt::format("{}_token_id", name)))) return found;
        return out_.types[size_t(found)] == TokenType::control ? found : -1;
    }

    void ids() {
        for (const char* name : kOtherKeys)
            id(name);
        out_.bos = default_id("bos", 1, -1);
        out_.unknown = default_id("unknown", 0, -1);
        out_.ends.assign(size_t(out_.size()), false);
        const int eos = default_id("eos", 2, 11);
        if (eos >= 0) out_.ends[size_t(eos)] = true;
        for (const char* name : kEndKeys)
            if (const int end = id(name); end >= 0) out_.ends[size_t(end)] = true;
        for (size_t i = 0; i < texts_.size(); ++i)
            if (std::find(std::begin(kEndTexts), std::end(kEndTexts), texts_[i]) != std::end(kEndTexts))
                out_.ends[i] = true;
    }

    void encoder() {
        if (out_.kind == Kind::sentence_piece)
            return out_.spm.load(texts_, out_.types, std::move(scores_), out_.unknown);
        std::string_view name = "default";
        if (const auto given = file_.string("tokenizer.ggml.pre")) {
            name = *given;
        } else {
            warn("tokenizer.ggml.pre is missing: the tokenizer type is a guess, results may differ");
        }
        out_.pre = PreTokenizer::find(name);
        if (!out_.pre)
            return refuse(fmt::format("tokenizer pre-type \"{}\" is not supported", printable(name)),
                          "Open a model of another family, such as SmolLM2, Llama 3 or Qwen 2.");
        const auto merges = file_.strings("tokenizer.ggml.merges");
        if (!merges) return refuse("tokenizer.ggml.merges is missing or not a list of strings");
        if (merges->size() > kMaxTokens) return refuse("tokenizer.ggml.merges is too long");
        // Plain text never turns into control tokens: bytes without a token are left out rather than become one.
        const bool plain = out_.unknown >= 0 && out_.types[size_t(out_.unknown)] != TokenType::control;
        const int stand_in = plain ? out_.unknown : -1;
        if (std::string why = out_.bpe.load(out_.pieces, *merges, stand_in); !why.empty()) return refuse(why);
        if (const int missing = out_.bpe.missing_bytes(); missing > 0)
            warn(fmt::format("{} byte values that occur in texts have no token: {} in their place", missing,
                             plain ? "the unknown token stands" : "nothing stands"));
    }

    void flags() {
        const bool spm = out_.kind == Kind::sentence_piece;
        const bool add_bos = file_.boolean("tokenizer.ggml.add_bos_token").value_or(spm || out_.pre->adds_bos());
        out_.add_bos = add_bos && out_.bos >= 0;
        if (add_bos && !out_.add_bos)
            warn("the file asks for a token in front of every text (BOS) but does not say which: none is added");
        out_.add_space_prefix = spm && file_.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
    }

    const GgufFile& file_;
    Tokenizer::Impl& out_;
    std::vector<std::string_view> texts_;  // in the file's head
    std::vector<float> scores_;
    std::optional<Error> error_;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_gguf(const GgufFile& file) {
    auto impl = std::make_unique<Impl>();
    if (const Status status = Loader(file, *impl).load(); !status) return status.error();
    return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(impl)));
}

}  // namespace kvasir
