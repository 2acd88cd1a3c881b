// SPDX-License-Identifier: GPL-3.0-or-later
// Five tasks of LongBench: prompts, lengths, stop rules, post-processing and metrics as its scripts have them
// (THUDM/LongBench v1 at 2e00731, LongBench/pred.py, eval.py and config/; docs/spec/kv-cache-schemes.md, section 7.3).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/model.h"

namespace kvasir {

/// What one task asks for.
struct TaskKind {
    std::string_view name;      ///< as in LongBench, e.g. "hotpotqa"
    std::string_view prompt;    ///< with {context} and {input}
    int new_tokens = 0;         ///< at most generated
    bool chat = false;          ///< the prompt is a turn of the model's chat template
    bool first_line = false;    ///< only the first line of the answer counts (leading line feeds removed)
    bool newline_ends = false;  ///< generation ends at a line feed too, after one token at the earliest (samsum)
    double (*score)(std::string_view prediction, std::string_view reference, std::span<const std::string> classes);
};

std::span<const TaskKind> task_kinds();
const TaskKind* task_kind(std::string_view name);  ///< nullptr when unknown

/// One line of LongBench's JSONL.
struct TaskExample {
    std::string id, input, context;
    std::vector<std::string> answers, classes;
};

/// Reads {input, context, answers, all_classes, _id, …} a line; empty lines are passed over. Refuses what cannot be
/// scored: a missing field, no answer, a class or paragraph task without its names; the error says which line.
Result<std::vector<TaskExample>> read_task_examples(const TaskKind& kind, std::string_view jsonl,
                                                    const std::string& where);

/// Short examples of our own (resources/tasks, CC0), in LongBench's format, to run without its data. Their scores are
/// not LongBench scores.
std::string_view own_task_examples(const TaskKind& kind);

/// The prompt of an example. When it has more than max_length tokens, the first and last max_length / 2 are kept.
std::string task_prompt(const TaskKind& kind, const TaskExample& example, const Model& model, int max_length);

/// What of an answer is scored.
std::string scored_part(const TaskKind& kind, std::string_view answer);

/// Best score over the references, 0 to 1. `answer` as generated, without control tokens.
double task_score(const TaskKind& kind, const TaskExample& example, std::string_view answer);

}  // namespace kvasir
