// SPDX-License-Identifier: GPL-3.0-or-later
// Speed measurements as pictures: `kvasir --figures BENCH.json... --out DIR`.
#pragma once

#include <QStringList>

#include "core/base/result.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

struct DrawnFigures {
    QStringList files;     ///< written, as paths
    QStringList left_out;  ///< "speed-by-depth: needs one lane at two depths"
};

/// Reads the documents of `kvasir-cli bench --json` and writes each figure they have rows for into `folder`, which is
/// made when it is absent, as SVG and as PNG with two pixels per unit.
Result<DrawnFigures> drawBenchFigures(const QStringList& documents, const QString& folder, const Theme& theme);

}  // namespace kvasir::ui
