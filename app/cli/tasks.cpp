// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/measure/statistics.h"
#include "core/measure/task_metrics.h"
#include "core/report/provenance.h"
#include "core/session/run_to_end.h"
#include "core/session/task_set.h"

namespace kvasir::cli {
namespace {

/// Answers of one scheme, in the order of the examples.
struct Row {
    std::string spec, why;
    bool failed = false;
    std::vector<double> scores;
    std::vector<std::string> answers;
    int n_empty = 0;
};

struct TasksCommand {
    Common common;
    std::string task, data;
    std::vector<std::string> caches;
    int max_length = 3500, limit = 0;
    bool answers = false, max_length_given = false;

    int operator()() const;

 private:
    Result<std::vector<TaskExample>> examples(const TaskKind& kind) const;
    Experiment experiment(const TaskKind& kind, const Model& model, std::vector<LaneSetup> lanes) const;
    nlohmann::json to_json(const Row& row) const;
    void note_dropped(const TaskKind& kind, const Model& model, int length, size_t n_examples, Job& job) const;
};

/// Says what is done otherwise than asked for.
void TasksCommand::note_dropped(const TaskKind& kind, const Model& model, int length, size_t n_examples,
                                Job& job) const {
    if (kind.chat && model.chat_template().kind() == ChatTemplate::Kind::none)
        job.note("the model has no chat template that Kvasir knows: the prompts are given as they are");
    if (max_length > length && max_length_given)
        job.note(fmt::format("--max-length {}: the context leaves room for {} prompt tokens", max_length, length));
    if (limit > 0 && size_t(limit) > n_examples)
        job.note(fmt::format("--limit {}: there are {} examples", limit, n_examples));
    if (answers && !common.json) job.note("--answers has no effect without --json");
}

Result<std::vector<TaskExample>> TasksCommand::examples(const TaskKind& kind) const {
    std::string bytes(own_task_examples(kind));
    if (!data.empty()) {
        auto read = read_text(data, common);
        if (!read) return read.error();
        bytes = std::move(*read);
    }
    auto all = read_task_examples(kind, bytes, data.empty() ? "the built-in examples" : data);
    if (all && limit > 0 && all->size() > size_t(limit)) all->resize(size_t(limit));
    return all;
}

/// Greedy, each lane its own text.
Experiment TasksCommand::experiment(const TaskKind& kind, const Model& model, std::vector<LaneSetup> lanes) const {
    Experiment e;
    e.lanes = std::move(lanes);
    e.mode = Mode::free_running;
    e.chat = kind.chat, e.n_tokens = kind.new_tokens;
    e.n_threads = common.threads, e.kernels = common.kernel_path(), e.layer_errors = false;
    if (kind.newline_ends) {
        const std::vector<int> newline = model.tokenizer().encode("\n", SpecialTokens::as_text);
        if (!newline.empty()) e.stop_ids = {newline.back()};
        e.min_tokens = 1;
    }
    return e;
}

std::string text_of(const std::vector<StepRecord>& records, const Tokenizer& tokenizer) {
    std::vector<int> ids;
    for (const StepRecord& r : records)
        if (!tokenizer.is_control(r.token_id)) ids.push_back(r.token_id);
    return valid_utf8(tokenizer.decode(ids));
}

/// Answers one example in every lane. False: interrupted.
Result<bool> answer(const std::shared_ptr<const Model>& model, const Experiment& e, const TaskKind& kind,
                    const TaskExample& example, std::vector<Row>& rows) {
    auto run = Run::create(model, e);
    if (!run) return run.error();
    RunModel measured;
    const auto complete = run_to_end(**run, *model, measured, {}, interrupted_by_user());
    if (!complete) return complete.error();
    if (!*complete) return false;
    for (size_t i = 0; i < rows.size(); ++i) {
        Row& row = rows[i];
        row.failed |= measured.info().lanes[i].failed;
        if (const std::string& why = (*run)->lane_error(int(i)); !why.empty()) row.failed = true, row.why = why;
        if (row.failed) continue;
        row.answers.push_back(text_of(measured.lane(int(i)), model->tokenizer()));
        row.scores.push_back(task_score(kind, example, row.answers.back()));
        row.n_empty += words_of(scored_part(kind, row.answers.back())).empty();
    }
    return true;
}

/// LongBench prints 100 times the mean, to two places.
double rounded(double share) {
    return std::round(1e4 * share) / 100;
}

nlohmann::json TasksCommand::to_json(const Row& row) const {
    nlohmann::json j{{"spec", row.spec}, {"why", row.why}};
    if (row.failed || row.scores.empty()) return j;
    const Interval interval = confidence_interval(row.scores, {.block = 1, .seed = common.seed});
    j["score"] = rounded(mean(row.scores)), j["n_empty"] = row.n_empty, j["ci95"] = nullptr;
    if (interval)
        j["ci95"] = {rounded(std::max(0.0, interval.low)), rounded(std::min(1.0, interval.high))};
    else
        j["ci95_why"] = interval.why;
    j["scores"] = row.scores;
    if (answers) j["answers"] = row.answers;
    return j;
}

int TasksCommand::operator()() const {
    const TaskKind& kind = *task_kind(task);  // the option allows only names of tasks
    const auto set = examples(kind);
    if (!set) return fail(common, set.error());
    int reference = 0;
    const auto lanes = parse_lanes(caches, "", &reference);
    if (!lanes) return fail(common, lanes.error());
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    Experiment e = experiment(kind, **model, *lanes);
    e.reference = reference;
    // The chat template's own tokens and the answer must fit behind the longest prompt.
    constexpr int kTemplateTokens = 64;
    const int length = std::min(max_length, (*model)->config().context_length - kind.new_tokens - kTemplateTokens);
    if (length < 2)
        return fail(common, {ErrorCode::input, "no room for a prompt", (*model)->file().path(),
                             fmt::format("the context is {} tokens and the answer may have {}",
                                         (*model)->config().context_length, kind.new_tokens),
                             "Use a model with a longer context."});

    std::vector<Row> rows;
    for (const LaneSetup& lane : *lanes)
        rows.push_back({.spec = lane.spec.text, .why = {}, .scores = {}, .answers = {}});
    Job job(common);
    note_dropped(kind, **model, length, set->size(), job);
    ProgressLine progress(common);
    size_t n = 0;
    for (const TaskExample& example : *set) {
        progress.show(double(n) / double(set->size()), task);
        e.prompt = task_prompt(kind, example, **model, length);
        const auto answered = answer(*model, e, kind, example, rows);
        if (!answered && n == 0) return fail(common, answered.error());
        if (!answered)
            job.stop(answered.error());
        else if (!*answered)
            job.interrupted();
        if (job.stopped()) break;
        ++n;
    }
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.failed; })) job.missing();
    nlohmann::json j = provenance(model->get(), common.kernel_path());
    j["task"] = task, j["n"] = n, j["max_length"] = length;
    j["data"] = data.empty() ? "built-in examples, not LongBench" : data;
    j["rows"] = nlohmann::json::array();
    for (const Row& row : rows)
        j["rows"].push_back(to_json(row));
    if (common.json) return job.finish(std::move(j));
    fmt::print("{} · {} · {} examples · score 0 to 100 [95 % interval over the examples]\n", task,
               j["data"].get<std::string>(), n);
    for (const auto& row : j["rows"]) {
        if (!row.contains("score"))
            fmt::print("{:<26} {}\n", row["spec"].get<std::string>(),
                       n == 0 ? "no example was finished" : "does not run: " + row["why"].get<std::string>());
        else
            fmt::print("{:<26} {:>6.2f} {}, {} empty\n", row["spec"].get<std::string>(), row["score"].get<double>(),
                       row["ci95"].is_null() ? "no interval: " + row["ci95_why"].get<std::string>()
                                             : fmt::format("[{:.2f}, {:.2f}]", row["ci95"][0].get<double>(),
                                                           row["ci95"][1].get<double>()),
                       row["n_empty"].get<int>());
    }
    return job.finish();
}

}  // namespace

void add_tasks(CLI::App& app, int& status) {
    auto command = std::make_shared<TasksCommand>();
    CLI::App* sub = app.add_subcommand("tasks", "Task scores through the cache, in LongBench's format and metrics");
    command->common.add_engine_to(*sub);
    command->common.add_weights_to(*sub);
    std::vector<std::string> names;
    for (const TaskKind& kind : task_kinds())
        names.emplace_back(kind.name);
    sub->add_option("--task", command->task, "Which task")->required()->check(CLI::IsMember(names));
    sub->add_option("--data", command->data, "LongBench JSONL (default: a few short examples of Kvasir's own)");
    sub->add_option("--cache", command->caches, "Cache spec, repeatable; fp16 is added")->required();
    auto* max_length = sub->add_option("--max-length", command->max_length,
                                       "Prompt tokens; of a longer prompt the first and the last half are kept")
                           ->check(CLI::Range(2, 10000000));
    sub->add_option("--limit", command->limit, "Only the first N examples")->check(CLI::Range(1, 10000000));
    sub->add_option("--seed", command->common.seed, "Seed of the bootstrap that the intervals come from");
    sub->add_flag("--answers", command->answers, "With --json: the answers too");
    sub->callback([command, &status, max_length] {
        command->max_length_given = !max_length->empty();
        status = (*command)();
    });
}

}  // namespace kvasir::cli
