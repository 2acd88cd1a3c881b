// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "core/base/default_model.h"
#include "core/base/read_file.h"
#include "core/base/sha256.h"
#include "core/report/provenance.h"
#include "core/session/prompt_library.h"

namespace kvasir::cli {
namespace {

constexpr size_t kMostTextBytes = size_t(256) << 20;

const char* name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
            return "usage";
        case ErrorCode::input:
            return "input";
        case ErrorCode::memory:
            return "memory";
        case ErrorCode::disk:
            return "disk";
        case ErrorCode::device:
            return "device";
        case ErrorCode::interrupted:
            return "interrupted";
    }
    return "usage";
}

}  // namespace

int exit_status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
            return 2;
        case ErrorCode::input:
            return 3;
        case ErrorCode::memory:
        case ErrorCode::disk:
            return 4;
        case ErrorCode::device:
            return 5;
        case ErrorCode::interrupted:
            return interrupted_status();
    }
    return 2;
}

void Common::add_to(CLI::App& app) {
    app.add_flag("--json", json, "One JSON document on stdout");
    app.add_flag("--quiet", quiet, "No progress on stderr");
}

void Common::add_engine_to(CLI::App& app) {
    add_to(app);
    app.add_option("--model", model_path, "GGUF file (default: the model that tools/fetch-model put in place)");
    app.add_option("--threads", threads, "Threads (default: physical cores)")->check(CLI::Range(1, 1024));
    app.add_option("--kernels", kernels, "fused: straight from the codes; reference: through dequantized values")
        ->check(CLI::IsMember({"fused", "reference"}));
}

std::string Common::model_file() const {
    return model_path.empty() ? default_model_path() : model_path;
}

void Common::add_weights_to(CLI::App& app) {
    static const std::map<std::string, WeightsAs> names{{"as-is", WeightsAs::as_is},
                                                        {"f32", WeightsAs::f32},
                                                        {"f16", WeightsAs::f16},
                                                        {"q8_0", WeightsAs::q8_0},
                                                        {"q4_0", WeightsAs::q4_0}};
    app.add_option("--weights", weights,
                   "as-is, or f32, f16, q8_0, q4_0: write the weight matrices anew in memory, from the file's values")
        ->transform(CLI::CheckedTransformer(names))
        ->option_text("TYPE");
}

Result<std::shared_ptr<const Model>> load_model(const Common& common) {
    const bool is_default = common.model_path.empty();
    ProgressLine progress(common);
    auto model = Model::load(
        common.model_file(), [&](double share, const char* what) { progress.show(share, what); }, interrupted_by_user(),
        common.weights, common.threads);
    if (model)
        for (const std::string& warning : (*model)->warnings())
            fmt::print(stderr, "warning: {}: {}\n", (*model)->file().path(), warning);
    if (model || !is_default || model.error().code != ErrorCode::input) return model;
    Error error = model.error();
    error.hint = "Run tools/fetch-model, or name a GGUF file with --model.";
    return error;
}

Error stopped_by_user() {
    return {ErrorCode::interrupted, "interrupted", "", "nothing was finished", ""};
}

void print_error(const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.message().c_str());
}

nlohmann::json error_json(const Error& error) {
    return {{"code", name_of(error.code)}, {"message", error.message()}, {"hint", error.hint}, {"where", error.where}};
}

int fail(const Common& common, const Error& error) {
    print_error(error);
    if (common.json) {
        nlohmann::json j = provenance(nullptr, common.kernel_path());
        j["error"] = error_json(error);
        j["complete"] = false;
        print_json(j);
    }
    return exit_status_of(error.code);
}

Result<std::string> read_text(const std::string& path, const Common& common) {
    auto bytes = read_file_or_pipe(path, kMostTextBytes, interrupted_by_user());
    if (!bytes) return bytes.error();
    size_t replaced = 0;
    std::string text = valid_utf8(*bytes, &replaced);
    if (replaced) ProgressLine(common).note(fmt::format("note: {} invalid bytes were replaced by U+FFFD", replaced));
    return text;
}

Result<std::string> text_or_built_in(const std::string& path, const Common& common) {
    return path.empty() ? Result<std::string>(std::string(lighthouse_text())) : read_text(path, common);
}

Result<Experiment> scored_text(const std::string& path, int prefill, int tokens, const Common& common) {
    auto text = text_or_built_in(path, common);
    if (!text) return text.error();
    if (tokens > 0 && tokens <= prefill)
        return Error{ErrorCode::usage, "nothing to score", "--tokens",
                     fmt::format("{} tokens, of which {} are the prompt", tokens, prefill),
                     "Ask for more tokens than --prefill."};
    Experiment e;
    e.prompt = std::move(*text);
    e.score_text = true, e.prefill = prefill, e.n_tokens = tokens > 0 ? tokens - prefill : 0;
    e.n_threads = common.threads, e.kernels = common.kernel_path(), e.layer_errors = false;
    return e;
}

nlohmann::json text_head(const std::string& file, const std::string& bytes, size_t n_tokens) {
    return {{"file", file.empty() ? "built-in lighthouse text" : file},
            {"sha256", sha256_hex(bytes.data(), bytes.size())},
            {"n_tokens", n_tokens}};
}

ProgressLine::ProgressLine(const Common& common) : on_(!common.quiet) {
    const char* terminal = std::getenv("TERM");
    terminal_ = ::isatty(STDERR_FILENO) != 0 && terminal && *terminal && std::string_view(terminal) != "dumb";
}

ProgressLine::~ProgressLine() {
    if (open_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(double share, const std::string& what) {
    const int percent = int(share * 100);
    // "token 3 of 56" and "token 4 of 56" are one stage, "reading the prompt" is another.
    const std::string stage = what.substr(0, what.find_first_of("0123456789"));
    if (!on_ || (percent == last_percent_ && stage == stage_)) return;
    if (terminal_) {
        const int filled = percent * 30 / 100;
        fmt::print(stderr, "\r\033[K[{}{}] {:3}% {}", std::string(size_t(filled), '#'),
                   std::string(size_t(30 - filled), ' '), percent, what);
        std::fflush(stderr);
        open_ = true;
    } else if (stage != stage_ || percent / 25 != last_percent_ / 25) {
        fmt::print(stderr, "{}: {} %\n", what, percent);
    }
    last_percent_ = percent, stage_ = stage;
}

void ProgressLine::note(const std::string& line) {
    if (!on_) return;
    if (open_) std::fputs("\r\033[K", stderr);
    fmt::print(stderr, "{}\n", line);
}

Result<std::vector<LaneSetup>> parse_lanes(const std::vector<std::string>& specs, const std::string& reference,
                                           int* reference_index) {
    std::vector<LaneSetup> lanes;
    for (const std::string& text : specs) {
        auto spec = parse_cache_spec(text);
        if (!spec) return spec.error();
        lanes.push_back({std::move(*spec), true});
    }
    const std::string wanted = reference.empty() ? "fp16" : reference;
    auto spec = parse_cache_spec(wanted);
    if (!spec) return spec.error();
    for (size_t i = 0; i < lanes.size(); ++i)
        if (lanes[i].spec.same_scheme(*spec)) {
            *reference_index = int(i);
            return lanes;
        }
    lanes.insert(lanes.begin(), {std::move(*spec), true});
    *reference_index = 0;
    return lanes;
}

void print_json(const nlohmann::json& document) {
    fmt::print("{}\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace kvasir::cli
