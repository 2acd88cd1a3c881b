// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/task_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/measure/task_metrics.h"

namespace kvasir {
namespace {

using nlohmann::json;
using Classes = std::span<const std::string>;

double classification(std::string_view prediction, std::string_view reference, Classes classes) {
    return classification_score(prediction, reference, classes);
}
double summary(std::string_view prediction, std::string_view reference, Classes) {
    return rouge_l(prediction, reference);
}
double answer(std::string_view prediction, std::string_view reference, Classes) {
    return token_f1(prediction, reference);
}
double retrieval(std::string_view prediction, std::string_view reference, Classes) {
    return retrieval_score(prediction, reference);
}

// The prompts are LongBench's, to the byte (config/dataset2prompt.json, MIT licence): a score depends on them.
constexpr std::array<TaskKind, 5> kTasks{{
    {.name = "trec",
     .prompt = "Please determine the type of the question below. Here are some examples of questions.\n\n"
               "{context}\n{input}",
     .new_tokens = 64,
     .first_line = true,
     .score = classification},
    {.name = "samsum",
     .prompt = "Summarize the dialogue into a few short sentences. The following are some examples.\n\n"
               "{context}\n\n{input}",
     .new_tokens = 128,
     .first_line = true,
     .newline_ends = true,
     .score = summary},
    {.name = "triviaqa",
     .prompt = "Answer the question based on the given passage. Only give me the answer and do not output any other "
               "words. The following are some examples.\n\n{context}\n\n{input}",
     .new_tokens = 32,
     .first_line = true,
     .score = answer},
    {.name = "hotpotqa",
     .prompt = "Answer the question based on the given passages. Only give me the answer and do not output any other "
               "words.\n\nThe following are given passages.\n{context}\n\nAnswer the question based on the given "
               "passages. Only give me the answer and do not output any other words.\n\nQuestion: {input}\nAnswer:",
     .new_tokens = 32,
     .chat = true,
     .score = answer},
    {.name = "passage_retrieval_en",
     .prompt = "Here are 30 paragraphs from Wikipedia, along with an abstract. Please determine which paragraph the "
               "abstract is from.\n\n{context}\n\nThe following is an abstract.\n\n{input}\n\nPlease enter the number "
               "of the paragraph that the abstract is from. The answer format must be like \"Paragraph 1\", "
               "\"Paragraph 2\", etc.\n\nThe answer is: ",
     .new_tokens = 32,
     .chat = true,
     .score = retrieval},
}};

/// Python's str.format for the two fields: what they put in is not looked at again.
std::string filled_in(std::string_view format, const TaskExample& e) {
    std::string out;
    while (!format.empty()) {
        const auto field = [&](std::string_view name, const std::string& value) {
            if (!format.starts_with(name)) return false;
            out += value;
            format.remove_prefix(name.size());
            return true;
        };
        if (field("{context}", e.context) || field("{input}", e.input)) continue;
        out += format.front();
        format.remove_prefix(1);
    }
    return out;
}

std::vector<std::string> strings(const json& list) {
    return list.is_null() ? std::vector<std::string>() : list.get<std::vector<std::string>>();
}

/// Why an example cannot be scored; "" when it can.
std::string defect(const TaskKind& kind, const TaskExample& e) {
    if (e.answers.empty()) return "it has no answer";
    if (kind.score == classification && e.classes.empty()) return "all_classes names no class";
    if (kind.score == retrieval)
        for (const std::string& a : e.answers)
            if (paragraph_number(a).empty()) return "the answer \"" + a + "\" is not like \"Paragraph 1\"";
    return {};
}

}  // namespace

std::span<const TaskKind> task_kinds() {
    return kTasks;
}

const TaskKind* task_kind(std::string_view name) {
    const auto at = std::find_if(kTasks.begin(), kTasks.end(), [&](const TaskKind& k) { return k.name == name; });
    return at == kTasks.end() ? nullptr : &*at;
}

Result<std::vector<TaskExample>> read_task_examples(const TaskKind& kind, std::string_view jsonl,
                                                    const std::string& where) {
    std::vector<TaskExample> examples;
    const auto refuse = [&](int line, std::string why) {
        return Error{ErrorCode::input, "cannot read the examples", fmt::format("{}, line {}", where, line),
                     std::move(why),
                     "Each line must be a JSON object with input, context, answers and all_classes, as in LongBench."};
    };
    int line = 0;
    for (size_t begin = 0; begin < jsonl.size();) {
        const size_t end = std::min(jsonl.find('\n', begin), jsonl.size());
        const std::string_view text = jsonl.substr(begin, end - begin);
        begin = end + 1;
        ++line;
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        TaskExample e;
        try {
            const json j = json::parse(text);
            e.input = j.at("input"), e.context = j.at("context"), e.answers = strings(j.at("answers"));
            e.classes = strings(j.value("all_classes", json())), e.id = j.value("_id", "");
        } catch (const json::exception& error) {
            return refuse(line, error.what());
        }
        if (std::string why = defect(kind, e); !why.empty()) return refuse(line, std::move(why));
        examples.push_back(std::move(e));
    }
    if (examples.empty()) return refuse(1, "it has no example");
    return examples;
}

std::string task_prompt(const TaskKind& kind, const TaskExample& example, const Model& model, int max_length) {
    std::string prompt = filled_in(kind.prompt, example);
    const Tokenizer& tokenizer = model.tokenizer();
    const std::vector<int> ids = model.encode_prompt(prompt, false);
    if (ids.size() <= size_t(max_length)) return prompt;
    const auto text = [&](auto begin, auto end) {
        std::vector<int> part;
        std::copy_if(begin, end, std::back_inserter(part), [&](int id) { return !tokenizer.is_control(id); });
        return valid_utf8(tokenizer.decode(part));
    };
    const auto half = std::ptrdiff_t(max_length / 2);
    return text(ids.begin(), ids.begin() + half) + text(ids.end() - half, ids.end());
}

std::string scored_part(const TaskKind& kind, std::string_view answer) {
    if (!kind.first_line) return std::string(answer);
    answer.remove_prefix(std::min(answer.find_first_not_of('\n'), answer.size()));
    return std::string(answer.substr(0, answer.find('\n')));
}

double task_score(const TaskKind& kind, const TaskExample& example, std::string_view answer) {
    const std::string prediction = scored_part(kind, answer);
    double best = 0;
    for (const std::string& reference : example.answers)
        best = std::max(best, kind.score(prediction, reference, example.classes));
    return best;
}

}  // namespace kvasir
