// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/report/repeats.h"
#include "core/session/run_model.h"

namespace kvasir {

/// One RFC 4180 field: quoted where it must be. A leading = + - @ in text that came from outside is kept from being
/// read as a formula by a quote mark before it.
std::string csv_text(std::string_view text);

/// Header and one line per lane and scored token: lane,position,token_id,nll,kl,delta_logprob,top1_id,top1_agrees,rank
/// (cli.md; rank 0: the most likely), with repeats also nll_min,nll_max over the draws. Fields that say nothing in a
/// lane that has left the reference's text are empty.
std::string per_token_csv(const RunModel& run, const Repeats* repeats = nullptr);

}  // namespace kvasir
