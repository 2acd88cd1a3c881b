// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace kvasir {

class GgufFile;

enum class SpecialTokens {
    as_text,  ///< control tokens in the text stay plain text (user input)
    parse     ///< they become single ids (template output)
};

/// A stretch of text and how special tokens inside it are treated.
struct TextPart {
    std::string_view text;
    SpecialTokens special = SpecialTokens::as_text;
};

/// Byte-level BPE (tokenizer.ggml.model = gpt2) or SentencePiece BPE (= llama) tokenizer of a GGUF file. Const after
/// loading, usable from any thread.
class Tokenizer {
 public:
    static Result<std::shared_ptr<const Tokenizer>> from_gguf(const GgufFile& file);
    ~Tokenizer();

    /// Invalid UTF-8 is replaced by U+FFFD before encoding. No BOS is added (see add_bos()).
    std::vector<int> encode(std::string_view utf8, SpecialTokens special) const;
    /// The parts joined into one text. Special tokens are looked for inside each part alone, so text of one part can
    /// neither become a control token by itself nor complete one begun in another.
    std::vector<int> encode(std::span<const TextPart> parts) const;
    std::string decode(const std::vector<int>& ids) const;  ///< raw bytes, special tokens kept
    std::string_view piece(int id) const;                   ///< raw bytes of one token
    bool is_control(int id) const;
    bool is_end_of_generation(int id) const;
    bool is_unused(int id) const;  ///< padding rows: never sampled
    int size() const;
    int bos() const;  ///< -1: none
    bool add_bos() const;
    std::vector<int> end_of_generation() const;        ///< ascending
    std::string_view pre_tokenizer() const;            ///< name of the pre-tokenizer family, e.g. "smollm"
    const std::vector<std::string>& warnings() const;  ///< odd but legal things found while loading

    struct Impl;

 private:
    explicit Tokenizer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Turns a stream of token bytes into a stream of valid UTF-8: an incomplete tail is held back, a byte that can never
/// start or continue a character becomes U+FFFD at once.
class Utf8Stream {
 public:
    std::string push(std::string_view bytes);  ///< what can be shown now
    std::string finish();                      ///< flushes an incomplete tail as U+FFFD
 private:
    std::string pending_;
};

/// Replaces invalid bytes by U+FFFD; *replaced counts them.
std::string valid_utf8(std::string_view bytes, size_t* replaced = nullptr);

}  // namespace kvasir
