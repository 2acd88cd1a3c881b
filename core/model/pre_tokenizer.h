// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvasir {

/// Splits text into the pieces that byte-pair merges never cross. Const after construction, usable from any thread.
class PreTokenizer {
 public:
    /// `name` is the value of tokenizer.ggml.pre ("default" when it is missing); nullptr when it is not a known one.
    static std::unique_ptr<const PreTokenizer> find(std::string_view name);
    ~PreTokenizer();

    /// Pieces of valid UTF-8 text; joined they are the text. Linear in its length. Throws std::bad_alloc when PCRE2
    /// reports that it ran out of memory.
    std::vector<std::string_view> split(std::string_view text) const;

    std::string_view family() const;  ///< name of the list of expressions, e.g. "smollm"
    bool ignore_merges() const;       ///< a piece that is a token is taken whole
    bool adds_bos() const;            ///< BOS is put in front when the file does not say

 private:
    struct Impl;
    explicit PreTokenizer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kvasir
