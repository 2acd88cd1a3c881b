// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/readable_model.h"

#include "core/model/gguf.h"

namespace kvasir {

Result<ReadableModel> read_model(const GgufFile& file, const Progress& progress, const CancelCheck& cancelled) {
    ReadableModel model;
    const auto add = [&](const std::vector<std::string>& warnings) {
        model.warnings.insert(model.warnings.end(), warnings.begin(), warnings.end());
    };
    add(file.warnings());
    auto config = read_model_config(file);
    if (!config) return config.error();
    model.config = std::move(*config);
    add(model.config.warnings);
    if (cancelled && cancelled()) return Error{ErrorCode::interrupted, "loading stopped", file.path(), "cancelled", ""};
    if (progress) progress(0.1, "reading the tokenizer");
    auto tokenizer = Tokenizer::from_gguf(file);
    if (!tokenizer) return tokenizer.error();
    model.tokenizer = std::move(*tokenizer);
    add(model.tokenizer->warnings());
    if (const auto text = file.string("tokenizer.chat_template")) model.chat = ChatTemplate::recognise(*text);
    return model;
}

}  // namespace kvasir
