// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/pre_tokenizer.h"
#include "core/model/tokenizer.h"
#include "core/model/tokenizer_bpe.h"
#include "core/model/tokenizer_spm.h"
#include "core/model/tokenizer_vocab.h"

namespace kvasir {

struct Tokenizer::Impl {
    enum class Kind { byte_level, sentence_piece };
    Kind kind = Kind::byte_level;

    StringTable pieces;            ///< raw bytes per token; findable (byte-level only): what plain text may become
    std::vector<TokenType> types;  ///< per token
    std::vector<int> cut;          ///< special tokens in the order they are looked for: longest text first
    std::vector<bool> ends;        ///< per token: ends generation
    std::vector<std::string> warnings;
    int bos = -1, unknown = -1;
    bool add_bos = false;
    bool add_space_prefix = false;

    std::unique_ptr<const PreTokenizer> pre;  ///< byte-level only
    BpeMerger bpe;
    SpmMerger spm;

    int size() const { return pieces.size(); }
};

}  // namespace kvasir
