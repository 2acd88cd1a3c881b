// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/job.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvasir::cli {

CLI::Option* add_output(CLI::App& sub, const std::string& name, std::string& path, const std::string& help) {
    return sub.add_option(name, path, help)
        ->check([](const std::string& file) { return file.empty() ? "an empty name is no file" : std::string(); })
        ->option_text("FILE");
}

Job::Job(const Common& common) : common_(common) {
    if (common.json) plan_.writes_stdout("the JSON document");
}

Status Job::writes(const std::string& path, const std::string& option) {
    return path.empty() ? Status() : plan_.writes(path, option);
}

void Job::note(const std::string& sentence) {
    if (std::find(notes_.begin(), notes_.end(), sentence) != notes_.end()) return;
    ProgressLine(common_).note("note: " + sentence);
    notes_.push_back(sentence);
}

void Job::stop(const Error& error) {
    if (error.code == ErrorCode::interrupted) {
        interrupted_ = true;
        return;
    }
    stopped_ = true;
    take(error);
}

void Job::write(const std::string& path, std::string_view bytes) {
    if (!path.empty()) take(write_output(path, bytes, interrupted_by_user()));
}

void Job::take(const Status& written) {
    if (written) return;
    print_error(written.error());
    if (!error_) error_ = written.error();
}

int Job::exit_status(int status) const {
    if (error_) return exit_status_of(error_->code);
    if (interrupted_) return exit_status_of(ErrorCode::interrupted);
    return missing_ ? exit_status_of(ErrorCode::input) : status;
}

int Job::finish(nlohmann::json document, int status) {
    document["complete"] = complete();
    if (!notes_.empty()) document["notes"] = notes_;
    if (error_) document["error"] = error_json(*error_);
    print_json(document);
    return exit_status(status);
}

int Job::finish(int status) {
    if (interrupted_) fmt::print("Interrupted: not complete. What stands here was finished by then.\n");
    if (stopped_) fmt::print("Stopped by an error: not complete. {}\n", error_->message());
    return exit_status(status);
}

}  // namespace kvasir::cli
