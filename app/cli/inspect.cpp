// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/model/readable_model.h"
#include "core/report/provenance.h"

namespace kvasir::cli {
namespace {

struct InspectCommand {
    Common common;
    std::string path;

    int operator()() const {
        const auto file = GgufFile::open(path);
        if (!file) return fail(common, file.error());
        const GgufFile& f = **file;
        const auto readable = read_model(f);
        const ModelConfig* config = readable ? &readable->config : nullptr;
        std::vector<std::string> warnings = readable ? readable->warnings : f.warnings();
        if (const Status same = f.unchanged(); !same) return fail(common, same.error());
        const std::string as =
            config ? fmt::format("{}, {} weights, {} layers, {} heads, {} KV heads, head_dim {}, context {}",
                                 config->arch, config->weights, config->n_layers, config->n_heads, config->n_kv_heads,
                                 config->head_dim, config->context_length)
                   : "not readable: " + readable.error().message();
        const std::string format = fmt::format("GGUF v{}", f.version());
        if (common.json) {
            nlohmann::json j = provenance(nullptr, KernelPath::fused);
            j["model"] = model_head(f);
            j["file"] = path, j["format"] = format, j["will_read_as"] = as, j["warnings"] = warnings,
            j["readable"] = readable.ok();
            j["arch"] = config ? config->arch : "";
            j["tensors"] = nlohmann::json::array();
            for (const GgufTensor& t : f.tensors())
                j["tensors"].push_back(
                    {{"name", t.name}, {"type", ggml_type_name(t.type)}, {"dims", t.dims}, {"bytes", t.n_bytes}});
            j["metadata"] = nlohmann::json::object();
            for (const auto& [key, value] : f.describe_metadata())
                j["metadata"][key] = value;
            return Job(common).finish(std::move(j), config ? 0 : exit_status_of(ErrorCode::input));
        } else {
            fmt::print("{}\n{}, {} bytes, {} tensors\nreads as: {}\n", path, format, f.file_bytes(), f.tensors().size(),
                       as);
            for (const std::string& w : warnings)
                fmt::print("warning: {}\n", w);
            fmt::print("\n");
            for (const auto& [key, value] : f.describe_metadata())
                fmt::print("  {} = {}\n", key, value);
            fmt::print("\n");
            for (const GgufTensor& t : f.tensors())
                fmt::print("  {:<32} {:<6} [{}]\n", t.name, ggml_type_name(t.type), fmt::join(t.dims, ", "));
        }
        return config ? 0 : exit_status_of(ErrorCode::input);
    }
};

}  // namespace

void add_inspect(CLI::App& app, int& status) {
    auto command = std::make_shared<InspectCommand>();
    CLI::App* sub = app.add_subcommand("inspect", "What a model file holds and whether it can be run");
    command->common.add_to(*sub);
    sub->add_option("file", command->path, "GGUF file")->required();
    sub->callback([command, &status] { status = (*command)(); });
}

}  // namespace kvasir::cli
