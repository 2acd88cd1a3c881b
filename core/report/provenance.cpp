// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/provenance.h"

#include "core/base/sha256.h"
#include "kernels/cpu/ops.h"

namespace kvasir {

nlohmann::json provenance(const Model* model, KernelPath path) {
    nlohmann::json j;
    j["kvasir"] = {
        {"version", KVASIR_VERSION},
        {"build", KVASIR_BUILD_TYPE},
        {"kernels", std::string(path == KernelPath::fused ? "fused" : "reference") + ", " + kernels::simd_name()}};
    if (!model) return j;
    const ModelConfig& c = model->config();
    const auto sha = sha256_of_file(model->file().path());
    j["model"] = {{"file", model->file().path()},
                  {"sha256", sha ? *sha : ""},
                  {"arch", c.arch},
                  {"name", c.name},
                  {"weights", c.weights},
                  {"weights_as_run", model->weights_as_run()},
                  {"n_layers", c.n_layers},
                  {"n_heads", c.n_heads},
                  {"n_kv_heads", c.n_kv_heads},
                  {"head_dim", c.head_dim}};
    return j;
}

nlohmann::json protocol_json(const Model& model, int prefill, int n_scored) {
    return {{"prefill", prefill},      {"n_tokens", prefill + n_scored},     {"n_scored", n_scored},
            {"first_scored", prefill}, {"bos", model.tokenizer().add_bos()}, {"compute", "fp32"}};
}

}  // namespace kvasir
