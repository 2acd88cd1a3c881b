// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/bench_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/read_file.h"

namespace kvasir {
namespace {

using nlohmann::json;

constexpr size_t kMaxFileBytes = size_t(64) << 20;

/// Reads keys of one object and keeps the first thing that was wrong.
class Keys {
 public:
    Keys(const json& object, std::string place) : object_(object), place_(std::move(place)) {}

    double number(const char* key) {
        const json* value = find(key, &json::is_number, "a number");
        return value ? value->get<double>() : 0;
    }
    /// A number that something is divided by, or that a logarithmic axis must show.
    double positive(const char* key) {
        const double value = number(key);
        if (why_.empty() && !(value > 0 && std::isfinite(value)))
            why_ = fmt::format("{}: \"{}\" is {}, not above zero", place_, key, value);
        return value;
    }
    double not_negative(const char* key) {
        const double value = number(key);
        if (why_.empty() && !(value >= 0 && std::isfinite(value)))
            why_ = fmt::format("{}: \"{}\" is {}, below zero", place_, key, value);
        return value;
    }
    int count(const char* key, int least) {
        const double value = number(key);
        if (why_.empty() && !(value >= least && value <= 1e9 && value == std::floor(value)))
            why_ = fmt::format("{}: \"{}\" is {}, not a whole number from {}", place_, key, value, least);
        return why_.empty() ? int(value) : least;
    }
    std::string text(const char* key) {
        const json* value = find(key, &json::is_string, "a text");
        return value ? value->get<std::string>() : "";
    }
    /// "" where there is none.
    std::string optional_text(const char* key) const {
        const auto it = object_.find(key);
        return it != object_.end() && it->is_string() ? it->get<std::string>() : "";
    }
    /// `place` is what messages call the object.
    Keys object(const char* key, const std::string& place) {
        static const json kNothing = json::object();
        const json* value = find(key, &json::is_object, "an object");
        Keys inner(value ? *value : kNothing, place);
        inner.why_ = why_;  // what is wrong here is wrong first
        return inner;
    }
    void take_error(const Keys& inner) {
        if (why_.empty()) why_ = inner.why_;
    }
    const std::string& why() const { return why_; }

 private:
    const json* find(const char* key, bool (json::*is_right)() const noexcept, const char* right) {
        if (!why_.empty()) return nullptr;
        const auto it = object_.find(key);
        if (it == object_.end())
            why_ = fmt::format("{} has no \"{}\"", place_, key);
        else if (!((*it).*is_right)())
            why_ = fmt::format("{}: \"{}\" is not {}", place_, key, right);
        else
            return &*it;
        return nullptr;
    }

    const json& object_;
    std::string place_, why_;
};

/// bench names every lane of a step, "a | b | a": here each spec once, in the order of the lanes.
std::string spec_of_lanes(const std::string& names) {
    std::vector<std::string> specs;
    for (size_t from = 0; from <= names.size();) {
        const size_t bar = std::min(names.find(" | ", from), names.size());
        const std::string spec = names.substr(from, bar - from);
        if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
        from = bar + 3;
    }
    std::string joined;
    for (const std::string& spec : specs)
        joined += (joined.empty() ? "" : " + ") + spec;
    return joined;
}

BenchMeasurement measurement(Keys& row, const std::string& place) {
    BenchMeasurement m;
    m.spec = spec_of_lanes(row.text("spec"));
    m.depth = row.count("depth", 0);
    m.lanes = row.count("lanes", 1);
    Keys rates = row.object("decode_tokens_per_second", place + ", decode_tokens_per_second");
    m.median = rates.positive("median");
    m.min = rates.positive("min");
    m.max = rates.positive("max");
    row.take_error(rates);
    m.roofline = row.positive("roofline_tokens_per_second");
    m.weight_bytes = row.positive("weight_bytes");
    m.cache_bytes = row.positive("cache_bytes");
    m.n_cached = m.cache_bytes / m.lanes / row.positive("bytes_per_token");
    m.multiply_adds = row.positive("multiply_adds_per_step");
    Keys split = row.object("time_split", place + ", time_split");
    m.split.matmul = split.not_negative("matmul");
    m.split.quantize = split.not_negative("quantize");
    m.split.scores = split.not_negative("scores");
    m.split.softmax = split.not_negative("softmax");
    m.split.weighted_sum = split.not_negative("weighted_sum");
    m.split.rotate = split.not_negative("rotate");
    m.split.other = split.not_negative("other");
    row.take_error(split);
    return m;
}

}  // namespace

Result<BenchDocument> parse_bench_document(std::string_view text, const std::string& file) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorCode::input, "cannot read a speed measurement", file, why,
                     "Write it anew with: kvasir-cli bench --json."};
    };
    const json j = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (j.is_discarded()) return refuse("it is not JSON");
    if (!j.is_object()) return refuse("it is JSON, but not a document of bench");

    BenchDocument document;
    document.file = file;
    Keys top(j, "it");
    Keys head = top.object("kvasir", "kvasir"), model = top.object("model", "model");
    Keys machine = top.object("machine", "machine");
    document.version = head.text("version");
    document.kernels = head.text("kernels");
    document.commit = head.optional_text("commit");
    document.date = head.optional_text("date");
    if (document.commit.empty()) document.commit = top.optional_text("commit");
    if (document.date.empty()) document.date = top.optional_text("date");
    document.model_file = model.text("file");
    document.file_weights = model.text("weights");
    document.weights = model.text("weights_as_run");
    document.threads = machine.count("threads", 1);
    document.bandwidth_gbps = machine.positive("memory_bandwidth_gbps");
    document.fma_gflops = machine.positive("fma_gflops");
    for (const Keys* keys : {&head, &model, &machine})
        if (!keys->why().empty()) return refuse(keys->why());

    const auto results = j.find("results");
    if (results == j.end() || !results->is_array()) return refuse("it has no list \"results\"");
    if (results->empty()) return refuse("\"results\" has no rows");
    for (size_t i = 0; i < results->size(); ++i) {
        const json& row = (*results)[i];
        const std::string place = fmt::format("row {}", i + 1);
        if (!row.is_object()) return refuse(place + " is not an object");
        Keys keys(row, place);
        BenchMeasurement m = measurement(keys, place);
        if (!keys.why().empty()) return refuse(keys.why());
        document.rows.push_back(std::move(m));
    }
    return document;
}

Result<BenchDocument> read_bench_document(const std::string& path) {
    const auto bytes = read_file(path, kMaxFileBytes);
    if (!bytes) return bytes.error();
    return parse_bench_document(*bytes, path);
}

}  // namespace kvasir
