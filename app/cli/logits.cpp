// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <climits>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/base/read_file.h"
#include "core/base/safetensors.h"
#include "core/model/prompt_pass.h"
#include "core/report/provenance.h"
#include "kernels/cpu/machine.h"

namespace kvasir::cli {
namespace {

struct LogitsCommand {
    Common common;
    std::string ids_text, ids_file, cache = "fp16", out;
    bool decode = false, top_given = false;
    int top = 20;

    Result<std::vector<int>> ids() const {
        std::string text = "[" + ids_text + "]";
        if (!ids_file.empty()) {
            auto bytes = read_file_or_pipe(ids_file, size_t(1) << 30, interrupted_by_user());
            if (!bytes) return bytes.error();
            text = std::move(*bytes);
        }
        const auto j = nlohmann::json::parse(text, nullptr, false);
        const Error wrong{ErrorCode::input, "cannot read the token ids", ids_file, "a list of numbers was expected",
                          "Write them as 1,2,3 or as a JSON list."};
        if (!j.is_array() || j.empty()) return wrong;
        std::vector<int> out_ids;
        for (const auto& id : j) {
            if (!id.is_number_integer()) return wrong;
            if (id.get<double>() < 0 || id.get<double>() > INT_MAX)
                return Error{ErrorCode::input, "unknown token id", ids_file, id.dump() + " is no token id",
                             "Print ids with the tokenize command."};
            out_ids.push_back(id.get<int>());
        }
        return out_ids;
    }

    int operator()() const;
};

int LogitsCommand::operator()() const {
    Job job(common);
    job.reads_model();
    job.reads(ids_file, "the list of ids (--ids-file)");
    if (Status ok = job.writes(out, "--out"); !ok) return fail(common, ok.error());
    const auto wanted = ids();
    if (!wanted) return fail(common, wanted.error());
    const auto spec = parse_cache_spec(cache);
    if (!spec) return fail(common, spec.error());
    const auto model = load_model(common);
    if (!model) return fail(common, model.error());
    const ModelConfig& c = (*model)->config();
    for (const int id : *wanted)
        if (id < 0 || id >= c.n_vocab)
            return fail(common, {ErrorCode::input, "unknown token id", "",
                                 fmt::format("{} is outside 0..{}", id, c.n_vocab - 1), ""});
    if (int(wanted->size()) > c.context_length)
        return fail(common, {ErrorCode::input, "too many token ids", "",
                             fmt::format("{} ids, the context is {}", wanted->size(), c.context_length), ""});

    auto kv = KvCache::create(*spec, (*model)->cache_shape(int(wanted->size())), common.kernel_path());
    if (!kv) return fail(common, kv.error());
    Forward forward(*model, common.threads > 0 ? common.threads : kernels::physical_cores());
    std::vector<float> all;
    const auto keep = [&](const std::vector<float>& rows, size_t n) {
        for (size_t i = 0; i < n; ++i) {
            const auto row = rows.begin() + std::ptrdiff_t(i * forward.logits_stride());
            all.insert(all.end(), row, row + c.n_vocab);
        }
    };
    // The prompt is everything at once, or with --decode its first token; the rest goes through the cache one by one.
    const size_t n_prompt = decode ? 1 : wanted->size();
    ForwardOptions options;
    options.all_logits = true;
    const auto after = [&](size_t, size_t n, const std::vector<float>& rows) { keep(rows, n); };
    const std::span<const int> ids(*wanted);
    if (Status st = each_prompt_chunk(forward, **kv, ids.first(n_prompt), options, after, interrupted_by_user()); !st)
        return fail(common, st.error());
    KvCache* one = kv->get();
    if (const Status st = forward.finish_prompt({&one, 1}).front(); !st) return fail(common, st.error());
    std::vector<float> logits;
    for (const int id : ids.subspan(n_prompt)) {
        Sequence s;
        s.tokens = {id};
        s.caches = {one};
        if (Status st = forward.run({&s, 1}, options, logits, interrupted_by_user()); !st) {
            job.stop(st.error());
            break;
        }
        if (s.failed) return fail(common, s.error);
        keep(logits, 1);
    }
    const size_t n_vocab = size_t(c.n_vocab), n_done = all.size() / n_vocab, last = n_done - 1;
    if (!out.empty() && job.complete()) {
        const TensorOut tensor{"logits", TensorType::f32, {int64_t(n_done), int64_t(n_vocab)}, all.data()};
        job.write(out, safetensors_bytes({tensor}));
    } else if (!out.empty()) {
        job.note("--out was not written: not all positions were computed");
    }
    if (size_t(top) > n_vocab && top_given) job.note(fmt::format("--top {}: the model has {} tokens", top, n_vocab));
    std::vector<int> order(n_vocab);
    for (size_t i = 0; i < n_vocab; ++i)
        order[i] = int(i);
    const float* row = all.data() + last * n_vocab;
    const size_t k = std::min<size_t>(size_t(top), n_vocab);
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(k), order.end(),
                      [&](int a, int b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    nlohmann::json rows = nlohmann::json::array();
    for (size_t i = 0; i < k; ++i) {
        const std::string piece((*model)->tokenizer().piece(order[i]));
        if (common.json)
            rows.push_back({{"id", order[i]}, {"piece", piece}, {"logit", row[order[i]]}});
        else
            fmt::print("{:>7} {:>12.6f}  {}\n", order[i], row[order[i]],
                       nlohmann::json(piece).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    if (common.json) {
        nlohmann::json j = provenance(model->get(), common.kernel_path());
        j["spec"] = cache, j["position"] = last, j["top"] = std::move(rows);
        return job.finish(std::move(j));
    }
    return job.finish();
}

}  // namespace

void add_logits(CLI::App& app, int& status) {
    auto command = std::make_shared<LogitsCommand>();
    CLI::App* sub = app.add_subcommand("logits", "Logits of given token ids");
    command->common.add_engine_to(*sub);
    auto* ids = sub->add_option("--ids", command->ids_text, "Token ids, e.g. \"1,2,3\"");
    auto* file = sub->add_option("--ids-file", command->ids_file, "JSON file with a list of token ids");
    ids->excludes(file);
    sub->add_option("--cache", command->cache, "Cache the tokens go through (default fp16)");
    sub->add_flag("--decode", command->decode, "Feed the ids one at a time through the cache");
    auto* top =
        sub->add_option("--top", command->top, "How many logits of the last position")->check(CLI::Range(1, 1000000));
    add_output(*sub, "--out", command->out, "Write all positions' logits to this safetensors file");
    sub->callback([command, &status, ids, file, top] {
        command->top_given = !top->empty();
        if (ids->empty() && file->empty()) throw CLI::RequiredError("--ids or --ids-file");
        status = (*command)();
    });
}

}  // namespace kvasir::cli
