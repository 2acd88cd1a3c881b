// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands share: the model option, exit codes, errors, progress, text files.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/signals.h"
#include "core/base/result.h"
#include "core/model/model.h"
#include "core/session/experiment.h"

namespace kvasir::cli {

/// Options every command has; a command adds its own and a callback that returns the exit status.
struct Common {
    std::string model_path;  ///< --model, else the default model's place
    bool json = false, quiet = false;
    int threads = 0;
    uint64_t seed = 0;
    std::string kernels = "fused";
    WeightsAs weights = WeightsAs::as_is;

    void add_to(CLI::App& app);          ///< --json --quiet
    void add_engine_to(CLI::App& app);   ///< --model --threads --kernels and the two above
    void add_weights_to(CLI::App& app);  ///< --weights
    std::string model_file() const;      ///< --model, or where the default model lies
    KernelPath kernel_path() const { return kernels == "reference" ? KernelPath::reference : KernelPath::fused; }
};

Result<std::shared_ptr<const Model>> load_model(const Common& common);

/// Prints the error (and with --json the error document) and returns the exit status for its code.
int fail(const Common& common, const Error& error);

int exit_status_of(ErrorCode code);
Error stopped_by_user();                        ///< the error of a command that had nothing finished
void print_error(const Error& error);           ///< on stderr
nlohmann::json error_json(const Error& error);  ///< {code, message, hint, where}

/// A text file as valid UTF-8; says so on stderr when bytes had to be replaced.
Result<std::string> read_text(const std::string& path, const Common& common);

/// The text of --text, or the built-in lighthouse text when none is named.
Result<std::string> text_or_built_in(const std::string& path, const Common& common);

/// The experiment that scores `tokens` tokens of a text (0: all), of which the first `prefill` are the prompt; its
/// lanes are still to be set.
Result<Experiment> scored_text(const std::string& path, int prefill, int tokens, const Common& common);

/// `"text"` of a document. `file` "" is the built-in text.
nlohmann::json text_head(const std::string& file, const std::string& bytes, size_t n_tokens);

/// Progress on stderr: a bar on a terminal, plain lines otherwise, nothing with --quiet.
class ProgressLine {
 public:
    explicit ProgressLine(const Common& common);
    ~ProgressLine();
    void show(double share, const std::string& what);
    void note(const std::string& line);  ///< a line of its own, unless --quiet

 private:
    bool on_, terminal_;  ///< a terminal that knows escapes
    int last_percent_ = -1;
    std::string stage_;  ///< what was shown last, without its numbers
    bool open_ = false;
};

/// Specs of repeated --cache options. Adds fp16 in front when it is absent and is wanted as the reference.
Result<std::vector<LaneSetup>> parse_lanes(const std::vector<std::string>& specs, const std::string& reference,
                                           int* reference_index);

void print_json(const nlohmann::json& document);

}  // namespace kvasir::cli
