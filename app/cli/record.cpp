// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/base/byte_size.h"
#include "core/report/provenance.h"
#include "core/session/kv_recording.h"

namespace kvasir::cli {
namespace {

struct RecordCommand {
    Common common;
    std::string text_file, out;
    std::vector<int> layers;
    int tokens = 0;

    int operator()() const;
};

int RecordCommand::operator()() const {
    Job job(common);
    job.reads(text_file, "the text");
    job.reads_model();
    if (Status ok = job.writes(out, "--out"); !ok) return fail(common, ok.error());
    const auto text = text_or_built_in(text_file, common);
    if (!text) return fail(common, text.error());
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    std::vector<int> ids = (*model)->encode_prompt(*text, false);
    const size_t n_text = ids.size();
    if (size_t(tokens) > n_text)
        return fail(common, {ErrorCode::input, "cannot record", text_file,
                             fmt::format("the text has {} tokens, {} were asked for", n_text, tokens),
                             "Ask for fewer --tokens or use a longer text."});
    ids.resize(size_t(tokens));
    ProgressLine progress(common);
    const auto recording = record_kv(
        *model, ids, layers, common.threads, [&](double share, const char* what) { progress.show(share, what); },
        interrupted_by_user());
    if (!recording) return fail(common, recording.error());
    nlohmann::json j = provenance(model->get(), KernelPath::fused);
    const auto tensors = recording->tensors();
    const std::string bytes = safetensors_bytes(tensors, {{"model_sha256", j["model"]["sha256"].get<std::string>()},
                                                          {"model_name", (*model)->config().name},
                                                          {"n_tokens", std::to_string(tokens)}});
    const Status written = write_output(out, bytes, interrupted_by_user());
    job.take(written);
    if (common.json) {
        j["text"] = text_head(text_file, *text, n_text);
        j["n_tokens"] = tokens, j["layers"] = layers, j["out"] = out, j["tensors"] = nlohmann::json::array();
        for (const TensorOut& t : tensors)
            j["tensors"].push_back({{"name", t.name}, {"shape", t.shape}});
        return job.finish(std::move(j));
    }
    if (written)
        progress.note(fmt::format("{} tokens, {} tensors, {} written to {}", tokens, tensors.size(),
                                  byte_size_text(bytes.size()), out));
    return job.finish();
}

}  // namespace

void add_record(CLI::App& app, int& status) {
    auto command = std::make_shared<RecordCommand>();
    CLI::App* sub =
        app.add_subcommand("record", "Keys (after and before RoPE), values and queries of a text, as a file");
    command->common.add_engine_to(*sub);
    sub->remove_option(sub->get_option("--kernels"));  // the recording is of the model, before any cache
    sub->add_option("--text", command->text_file, "Text file (default: the built-in lighthouse text)");
    sub->add_option("--tokens", command->tokens, "Tokens from the beginning")
        ->required()
        ->check(CLI::Range(1, 10000000));
    sub->add_option("--layers", command->layers, "Layers, comma separated, from 0")->required()->delimiter(',');
    add_output(*sub, "--out", command->out, "safetensors file")->required();
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
