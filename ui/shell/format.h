// SPDX-License-Identifier: GPL-3.0-or-later
// How figures are written in the window, beside errorText, fixedText and countText that the plots brought along.
#pragma once

#include <QString>
#include <cstdint>
#include <string>

#include "ui/plots/plot_text.h"

namespace kvasir::ui {

QString mibText(uint64_t bytes);       ///< 14.04 (without the unit)
QString percentText(double share);     ///< 0.924 -> 92.4 %
QString durationText(double seconds);  ///< 0:14
QString fileSizeText(uint64_t bytes);  ///< 88.6 MiB

/// "SmolLM2-135M-Instruct" of ".../SmolLM2-135M-Instruct.Q4_1.gguf": people know a model by its file, and names inside
/// files are often those of the training run.
QString modelTitle(const std::string& path, const std::string& weights);

/// What the noise floor is, in one sentence.
QString noiseFloorSentence();

/// Token bytes as one printable line: line breaks, tabs and lone spaces as symbols, parts of characters as bytes: "EC
/// 9D".
QString tokenText(const std::string& bytes);

}  // namespace kvasir::ui
