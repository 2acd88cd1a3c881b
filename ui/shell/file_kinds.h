// SPDX-License-Identifier: GPL-3.0-or-later
// What a file is that was dropped or opened, by name and first bytes, and why it is refused.
#pragma once

#include <QString>

#include "core/base/result.h"

namespace kvasir::ui {

enum class FileKind { model, text, session };

/// Name only, cheap enough for a drag: false with a reason when nothing can be done with it.
bool acceptable(const QString& path, FileKind* kind, QString* why);

/// A text file as UTF-8; invalid bytes become U+FFFD and are counted. At most 4 MiB.
Result<QString> readText(const QString& path, size_t* replaced);

}  // namespace kvasir::ui
