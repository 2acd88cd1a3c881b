// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/cache/registry.h"
#include "core/report/provenance.h"

namespace kvasir::cli {
namespace {

/// Options that every preset has are listed once.
bool is_policy(const PresetOption& option) {
    return std::any_of(policy_options().begin(), policy_options().end(),
                       [&](const PresetOption& p) { return p.key == option.key; });
}

std::string policies() {
    std::string keys;
    for (const PresetOption& p : policy_options())
        keys += (keys.empty() ? "" : ", ") + p.key;
    return keys;
}

struct CachesCommand {
    Common common;
    std::string spec;
    int head_dim = 64;
    bool head_dim_given = false;

    int operator()() const {
        if (!spec.empty()) return one();
        nlohmann::json rows = nlohmann::json::array();
        if (!common.json) fmt::print("{:<14} {:>5}  {:<24} {}\n", "preset", "bits", "is", "options (default)");
        for (const Preset& p : presets()) {
            const auto parsed = parse_cache_spec(p.name);
            if (!parsed) return fail(common, parsed.error());
            const double bits = nominal_bits_per_value(*parsed, head_dim);
            if (common.json) {
                nlohmann::json options = nlohmann::json::array();
                for (const PresetOption& o : p.options)
                    options.push_back(
                        {{"key", o.key}, {"default", o.default_value}, {"choices", o.choices}, {"help", o.help}});
                // The list is the document: each row has the head that other documents have once.
                nlohmann::json row = provenance(nullptr, KernelPath::fused);
                row.update({{"preset", p.name},
                            {"title", p.title},
                            {"long_spec", long_spec(*parsed)},
                            {"origin", p.origin},
                            {"bits_per_value", {{"nominal", bits}, {"effective", nullptr}}},
                            {"options", options}});
                rows.push_back(std::move(row));
            } else {
                std::string options;
                for (const PresetOption& o : p.options)
                    if (!is_policy(o)) options += (options.empty() ? "" : ", ") + o.key + " (" + o.default_value + ")";
                fmt::print("{:<16} {:>5.2f}  {:<24} {}\n", p.name, bits, p.title, options);
            }
        }
        if (common.json)
            print_json(rows);
        else
            fmt::print(
                "\nEvery preset also takes {}; k=PRESET and v=PRESET take a side from another one.\nbits: nominal bits "
                "per value at head_dim {}, without the exact residual. Effective bits depend on "
                "the length: see run and eval.\n",
                policies(), head_dim);
        return 0;
    }

    int one() const {
        const auto parsed = parse_cache_spec(spec);
        if (!parsed) return fail(common, parsed.error());
        const double bits = nominal_bits_per_value(*parsed, head_dim);
        Job job(common);
        if (common.json) {
            nlohmann::json j = provenance(nullptr, KernelPath::fused);
            j["spec"] = spec, j["long_spec"] = long_spec(*parsed), j["title"] = display_name(*parsed);
            j["bits_per_value"] = {{"nominal", bits}}, j["head_dim"] = head_dim;
            if (std::isnan(bits)) j["bits_per_value"]["why"] = "rules for layers: it depends on the model's layers";
            return job.finish(std::move(j));
        }
        if (head_dim_given) job.note("--head-dim does not change the long form; --json also prints the nominal bits");
        fmt::print("{}\n", long_spec(*parsed));
        return job.finish();
    }
};

}  // namespace

void add_caches(CLI::App& app, int& status) {
    auto command = std::make_shared<CachesCommand>();
    CLI::App* sub = app.add_subcommand("caches", "The registry: every preset, its long form and bits per value");
    command->common.add_to(*sub);
    sub->add_option("--spec", command->spec, "Print the long form of this spec");
    auto* head_dim = sub->add_option("--head-dim", command->head_dim, "Head size the bits are computed for")
                         ->check(CLI::Range(8, 1024));
    sub->callback([command, &status, head_dim] {
        command->head_dim_given = !head_dim->empty();
        status = (*command)();
    });
}

}  // namespace kvasir::cli
