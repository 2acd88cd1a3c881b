// SPDX-License-Identifier: GPL-3.0-or-later
// What a file states, checked in one place before anything is allocated for a run: loading and `inspect` both ask here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"
#include "core/model/chat_template.h"
#include "core/model/model_config.h"
#include "core/model/tokenizer.h"

namespace kvasir {

class GgufFile;

struct ReadableModel {
    ModelConfig config;
    std::shared_ptr<const Tokenizer> tokenizer;
    ChatTemplate chat;
    std::vector<std::string> warnings;  ///< odd but legal things of the file, its configuration and its tokenizer
};

/// Refuses what this version cannot run; a file that passes can be loaded where there is memory for it.
Result<ReadableModel> read_model(const GgufFile& file, const Progress& progress = {},
                                 const CancelCheck& cancelled = {});

}  // namespace kvasir
