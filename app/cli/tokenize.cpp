// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/report/provenance.h"

namespace kvasir::cli {
namespace {

struct TokenizeCommand {
    Common common;
    std::string text_file, prompt;
    bool special = false;

    int operator()() const {
        std::string text = prompt;
        if (!text_file.empty()) {
            auto read = read_text(text_file, common);
            if (!read) return fail(common, read.error());
            text = std::move(*read);
        }
        auto model_file = GgufFile::open(common.model_file());
        if (!model_file) return fail(common, model_file.error());
        const auto tokenizer = Tokenizer::from_gguf(**model_file);
        if (!tokenizer) return fail(common, tokenizer.error());
        const std::vector<int> ids =
            (*tokenizer)->encode(text, special ? SpecialTokens::parse : SpecialTokens::as_text);
        if (common.json) {
            nlohmann::json pieces = nlohmann::json::array();
            for (const int id : ids)
                pieces.push_back(std::string((*tokenizer)->piece(id)));
            nlohmann::json j = provenance(nullptr, KernelPath::fused);
            j["model"] = model_head(**model_file);
            j["text"] = text_head(text_file, text, ids.size());
            if (text_file.empty()) j["text"]["file"] = nullptr, j["text"]["source"] = "--prompt";
            j["ids"] = ids, j["pieces"] = std::move(pieces);
            return Job(common).finish(std::move(j));
        } else {
            for (const int id : ids)
                fmt::print("{:>7}  {}\n", id,
                           nlohmann::json(std::string((*tokenizer)->piece(id)))
                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
            fmt::print("{} tokens\n", ids.size());
        }
        return 0;
    }
};

}  // namespace

void add_tokenize(CLI::App& app, int& status) {
    auto command = std::make_shared<TokenizeCommand>();
    CLI::App* sub = app.add_subcommand("tokenize", "Text to token ids");
    command->common.add_to(*sub);
    sub->add_option("--model", command->common.model_path, "GGUF file whose tokenizer is used");
    auto* file = sub->add_option("--text", command->text_file, "Text file");
    auto* prompt = sub->add_option("--prompt", command->prompt, "Text");
    file->excludes(prompt);
    sub->add_flag("--special", command->special, "Control tokens in the text become single ids");
    sub->callback([command, &status, file, prompt] {
        if (file->empty() && prompt->empty()) throw CLI::RequiredError("--text FILE or --prompt TEXT");
        status = (*command)();
    });
}

}  // namespace kvasir::cli
