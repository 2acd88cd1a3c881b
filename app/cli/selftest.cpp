// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/job.h"
#include "core/report/laws.h"
#include "core/report/provenance.h"

namespace kvasir::cli {

void add_selftest(CLI::App& app, int& status) {
    auto common = std::make_shared<Common>();
    CLI::App* sub = app.add_subcommand(
        "selftest", "Laws that every build must keep, measured on the model; exit 1 when one breaks");
    common->add_engine_to(*sub);
    sub->callback([common, &status] {
        const auto model = load_model(*common);
        if (!model) {
            status = fail(*common, model.error());
            return;
        }
        ProgressLine progress(*common);
        Job job(*common);
        const auto checked = check_laws(
            *model, common->threads, [&](double share, const char* what) { progress.show(share, what); },
            interrupted_by_user());
        if (!checked) {
            status = fail(*common, checked.error());
            return;
        }
        if (!checked->complete) job.interrupted();
        int broken = 0;
        progress.note("");
        nlohmann::json rows = nlohmann::json::array();
        for (const Law& law : checked->laws) {
            if (!law.holds) broken = 1;
            rows.push_back({{"name", law.name},
                            {"holds", law.holds},
                            {"figure", law.figure},
                            {"bound", law.bound},
                            {"says", law.says}});
            if (!common->json)
                fmt::print("{}  {:<24} {:>12.4g}  (bound {:.4g})  {}\n", law.holds ? "holds " : "BROKEN", law.name,
                           law.figure, law.bound, law.says);
        }
        if (!common->json) {
            status = job.finish(broken);
            return;
        }
        nlohmann::json j = provenance(model->get(), KernelPath::fused);
        j["laws"] = std::move(rows);
        status = job.finish(std::move(j), broken);
    });
}

}  // namespace kvasir::cli
