// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/provenance.h"

#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

nlohmann::json shape_of(const ModelConfig& c) {
    return {{"arch", c.arch},         {"name", c.name},       {"weights", c.weights},
            {"n_layers", c.n_layers}, {"n_heads", c.n_heads}, {"n_kv_heads", c.n_kv_heads},
            {"head_dim", c.head_dim}};
}

}  // namespace

nlohmann::json provenance(const Model* model, KernelPath path) {
    nlohmann::json j;
    j["kvasir"] = {
        {"version", KVASIR_VERSION},
        {"build", KVASIR_BUILD_TYPE},
        {"kernels", std::string(path == KernelPath::fused ? "fused" : "reference") + ", " + kernels::simd_name()}};
    if (!model) return j;
    const ModelConfig& c = model->config();
    j["model"] = {{"file", model->file().path()},
                  {"sha256", model->sha256()},
                  {"weights_as_run", model->weights_as_run()},
                  {"warnings", model->warnings()}};
    j["model"].update(shape_of(c));
    return j;
}

nlohmann::json model_head(const GgufFile& file) {
    const auto sha = file.sha256();
    nlohmann::json head = {{"file", file.path()}, {"sha256", sha ? *sha : ""}};
    const auto config = read_model_config(file);
    if (!config) {
        for (const char* key : {"arch", "name", "weights", "n_layers", "n_heads", "n_kv_heads", "head_dim"})
            head[key] = nullptr;
        return head;
    }
    head.update(shape_of(*config));
    return head;
}

nlohmann::json protocol_json(const Model& model, int prefill, int n_scored) {
    return {{"prefill", prefill},      {"n_tokens", prefill + n_scored},     {"n_scored", n_scored},
            {"first_scored", prefill}, {"bos", model.tokenizer().add_bos()}, {"compute", "fp32"}};
}

}  // namespace kvasir
