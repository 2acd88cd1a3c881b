// SPDX-License-Identifier: GPL-3.0-or-later
// Errors as values: bad files, specs and devices never throw out of the core and never abort.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace kvasir {

/// What kind of thing went wrong; decides the exit status of the command line (see app/cli).
enum class ErrorCode {
    usage,        ///< wrong option or spec
    input,        ///< a file or text was refused
    memory,       ///< not enough memory
    disk,         ///< a file could not be written
    device,       ///< a requested device is not there
    interrupted,  ///< stopped by the user
};

/// One refusal: WHAT in WHERE: WHY. HINT — one sentence a user can act on.
struct Error {
    ErrorCode code = ErrorCode::input;
    std::string what;   ///< e.g. "cannot read model"
    std::string where;  ///< file, key or option
    std::string why;    ///< the fact that stopped it
    std::string hint;   ///< what to do

    std::string message() const {
        std::string text = what;
        if (!where.empty()) text += " in " + where;
        if (!why.empty()) text += ": " + why;
        if (!text.empty() && text.back() != '.') text += '.';
        if (!hint.empty()) text += ' ' + hint;
        return text;
    }
};

/// A value or an Error. `value()` on an error is a programmer's mistake and aborts in every build type.
template <class T>
class [[nodiscard]] Result {
 public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return require(), std::get<0>(state_); }
    const T& value() const& { return require(), std::get<0>(state_); }
    T&& value() && { return require(), std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const { return std::get<1>(state_); }

 private:
    void require() const {
        if (ok()) return;
        std::fprintf(stderr, "kvasir: value() of a failed result: %s\n", error().message().c_str());
        std::abort();
    }
    std::variant<T, Error> state_;
};

/// Success or an Error.
class [[nodiscard]] Status {
 public:
    Status() = default;
    Status(Error error) : error_(std::move(error)), failed_(true) {}
    bool ok() const { return !failed_; }
    explicit operator bool() const { return ok(); }
    const Error& error() const { return error_; }

 private:
    Error error_;
    bool failed_ = false;
};

}  // namespace kvasir
