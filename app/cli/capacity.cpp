// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/base/byte_size.h"
#include "core/report/capacity.h"
#include "core/report/provenance.h"
#include "core/report/run_table.h"

namespace kvasir::cli {
namespace {

struct CapacityCommand {
    Common common;
    std::string shape, model, memory;
    std::vector<std::string> caches, transients;
    double weights_bits = 0;  ///< 0: 16 for a named shape, what the file has for a file
    bool explain = false;

    int operator()() const;

 private:
    Result<CapacityQuestion> question() const;
    Result<std::vector<CacheSpec>> specs() const;
    void print_for_people(const CapacityQuestion& question, const std::vector<CapacityRow>& rows) const;
    nlohmann::json document(const CapacityQuestion& question, const std::vector<CapacityRow>& rows) const;
    int explanation_alone() const;
};

Result<CapacityQuestion> CapacityCommand::question() const {
    CapacityQuestion q;
    const auto bytes = parse_byte_size(memory, "--memory");
    if (!bytes) return bytes.error();
    q.memory_bytes = *bytes;
    const auto found = model.empty() ? find_model_shape(shape) : model_file_shape(model, &q.weight_bytes);
    if (!found) return found.error();
    q.shape = *found;
    if (model.empty() || weights_bits > 0) q.weight_bytes = weight_bytes(q.shape, weights_bits > 0 ? weights_bits : 16);
    for (const std::string& name : transients) {
        const auto transient = parse_transient(name);
        if (!transient) return transient.error();
        q.transients.push_back(*transient);
    }
    return q;
}

Result<std::vector<CacheSpec>> CapacityCommand::specs() const {
    std::vector<std::string> texts = caches;
    if (texts.empty())
        for (const Preset& preset : presets())
            texts.push_back(preset.name);
    std::vector<CacheSpec> out;
    for (const std::string& text : texts) {
        auto spec = parse_cache_spec(text);
        if (!spec) return spec.error();
        out.push_back(std::move(*spec));
    }
    return out;
}

void CapacityCommand::print_for_people(const CapacityQuestion& q, const std::vector<CapacityRow>& rows) const {
    fmt::print("{}: {} layers, {} KV heads, head_dim {}; memory {}, weights {}\n\n", q.shape.title, q.shape.n_layers,
               q.shape.n_kv_heads, q.shape.head_dim, byte_size_text(q.memory_bytes), byte_size_text(q.weight_bytes));
    fmt::print("{:<26} {:>12} {:>12} {:>12} {:>12}\n", "cache", "bytes/token", "window", "transient", "tokens");
    for (const CapacityRow& row : rows) {
        if (row.refused.empty())
            fmt::print("{:<26} {:>12.10g} {:>12} {:>12} {:>12}\n", row.spec.text, row.bytes_per_token,
                       byte_size_text(row.fixed_bytes), row.transient_bytes_per_token, row.max_context);
        else
            fmt::print("{:<26} {}\n", row.spec.text, row.refused);
    }
    fmt::print(
        "\nwindow: the full exact window beyond the same tokens quantized. transient: bytes per token counted beside "
        "the cache (--transients).\nBytes alone: an attention program's own buffers and the trained context ({} "
        "tokens) "
        "set other limits.\n",
        q.shape.context_length);
    if (!q.shape.note.empty()) fmt::print("{}: {}.\n", q.shape.title, q.shape.note);
}

nlohmann::json CapacityCommand::document(const CapacityQuestion& q, const std::vector<CapacityRow>& rows) const {
    nlohmann::json j = provenance(nullptr, KernelPath::fused);
    if (!model.empty())
        if (const auto file = GgufFile::open(model)) j["model"] = model_head(**file);
    const ModelShape& s = q.shape;
    j["shape"] = s.name;
    j["shape_details"] = {{"title", s.title},
                          {"n_layers", s.n_layers},
                          {"n_heads", s.n_heads},
                          {"n_kv_heads", s.n_kv_heads},
                          {"head_dim", s.head_dim},
                          {"context_length", s.context_length},
                          {"n_vocab", s.n_vocab},
                          {"n_ff", s.n_ff},
                          {"n_parameters", s.n_parameters()},
                          {"note", s.note}};
    j["memory_bytes"] = q.memory_bytes, j["weight_bytes"] = q.weight_bytes;
    j["rows"] = nlohmann::json::array();
    for (const CapacityRow& row : rows) {
        if (!row.refused.empty()) {
            j["rows"].push_back({{"spec", row.spec.text}, {"refused", row.refused}});
            continue;
        }
        nlohmann::json transient = nlohmann::json::object();
        for (const Transient t : {Transient::logits32, Transient::mlp, Transient::layer_copy})
            transient[transient_name(t)] = transient_bytes_per_token(t, s, row.spec);
        j["rows"].push_back({{"spec", row.spec.text},
                             {"long_spec", long_spec(row.spec)},
                             {"bytes_per_token", row.bytes_per_token},
                             {"fixed_bytes", row.fixed_bytes},
                             {"max_context", row.max_context},
                             {"transient_bytes_per_token", transient},
                             {"transients_counted", row.transient_bytes_per_token},
                             {"bytes_at_max", ledger_json(row.at_max)}});
    }
    if (explain) j["explanation"] = explain_published_capacity();
    return j;
}

int CapacityCommand::explanation_alone() const {
    Job job(common);
    if (!memory.empty() || !caches.empty() || !transients.empty() || weights_bits > 0)
        job.note(
            "--explain alone recomputes Llama-2-7B: --memory, --cache, --transients and --weights-bits have no effect "
            "without --shape or --model");
    if (common.json) {
        nlohmann::json j = provenance(nullptr, KernelPath::fused);
        j["explanation"] = explain_published_capacity();
        return job.finish(std::move(j));
    }
    fmt::print("{}", explain_published_capacity());
    return job.finish();
}

int CapacityCommand::operator()() const {
    if (explain && shape.empty() && model.empty()) return explanation_alone();
    const auto asked = question();
    if (!asked) return fail(common, asked.error());
    const auto wanted = specs();
    if (!wanted) return fail(common, wanted.error());
    Job job(common);
    std::vector<CapacityRow> rows;
    for (const CacheSpec& spec : *wanted) {
        if (interrupted_by_user()()) {
            job.interrupted();
            break;
        }
        rows.push_back(capacity_row(*asked, spec));
        // A preset that this shape cannot have is no news in the list of all of them.
        if (!rows.back().refused.empty() && !caches.empty()) job.missing();
    }
    if (common.json) return job.finish(document(*asked, rows));
    print_for_people(*asked, rows);
    if (explain) fmt::print("\n{}", explain_published_capacity());
    return job.finish();
}

}  // namespace

void add_capacity(CLI::App& app, int& status) {
    auto command = std::make_shared<CapacityCommand>();
    CLI::App* sub = app.add_subcommand("capacity", "What fits into a memory: longest context, bytes per token");
    command->common.add_to(*sub);
    auto* shape = sub->add_option("--shape", command->shape, "A model of the table, e.g. llama-2-7b");
    auto* model = sub->add_option("--model", command->model, "GGUF file whose shape is taken");
    shape->excludes(model);
    auto* memory = sub->add_option("--memory", command->memory, "Memory in all, with its unit, e.g. 80GiB");
    sub->add_option("--cache", command->caches, "Cache spec, repeatable (default: every preset)");
    sub->add_option("--weights-bits", command->weights_bits, "Bits per weight (default 16; --model: as in the file)")
        ->check(CLI::Range(0.1, 64.0));
    sub->add_option("--transients", command->transients,
                    "Also held beside the cache, comma separated: logits32, mlp, layer-copy")
        ->delimiter(',');
    sub->add_flag("--explain", command->explain, "Recompute three published figures for Llama-2-7B");
    sub->callback([command, &status, shape, model, memory] {
        const bool named = !shape->empty() || !model->empty();
        if (!named && !command->explain) throw CLI::RequiredError("--shape or --model");
        if (named && memory->empty()) throw CLI::RequiredError("--memory");
        status = (*command)();
    });
}

}  // namespace kvasir::cli
