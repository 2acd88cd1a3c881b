// SPDX-License-Identifier: GPL-3.0-or-later
// What a command reads and writes, and what became of it: exit status, `complete`, and what is said of what is missing.
#pragma once

#include <optional>
#include <string>

#include "app/cli/common.h"
#include "core/base/output.h"

namespace kvasir::cli {

/// Adds an option that names a file to write; an empty name is refused.
CLI::Option* add_output(CLI::App& sub, const std::string& name, std::string& path, const std::string& help);

/// Nothing that was measured is lost to what goes wrong later: an interruption, an error, a file that cannot be written
/// are kept here, the results are printed all the same, and finish() says what is missing.
class Job {
 public:
    explicit Job(const Common& common);

    // Before the work. "" is an option that was not given.
    void reads(const std::string& path, const std::string& what) { plan_.reads(path, what); }
    void reads_model() { reads(common_.model_file(), "the model"); }
    Status writes(const std::string& path, const std::string& option);
    /// Says on stderr that something asked for has no effect, and in the document: `"notes"`.
    void note(const std::string& sentence);

    // While it goes on.
    void interrupted() { interrupted_ = true; }
    void stop(const Error& error);       ///< nothing more can be measured: interrupted, or an error that is said
    void missing() { missing_ = true; }  ///< a lane or row has no figures; its reason stands there
    void write(const std::string& path, std::string_view bytes);  ///< "": none
    void take(const Status& written);                             ///< what writing came to, by whomever
    bool stopped() const { return interrupted_ || stopped_; }
    bool complete() const { return !interrupted_ && !missing_ && !stopped_; }

    /// The document with `complete`, `notes` and `error`; or, for people, the lines that say what is missing. Returns
    /// the exit status: of an error, else of an interruption, else 3 when something is missing, else `status`.
    int finish(nlohmann::json document, int status = 0);
    int finish(int status = 0);

 private:
    int exit_status(int status) const;

    const Common& common_;
    OutputPlan plan_;
    std::vector<std::string> notes_;
    bool interrupted_ = false, missing_ = false, stopped_ = false;
    std::optional<Error> error_;
};

}  // namespace kvasir::cli
