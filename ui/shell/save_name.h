// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QWidget;

namespace kvasir::ui {

/// Asks for the name of a file to write. The answer has the ending `format` ("png"); "" when nobody wants one, or when
/// the ending made it the name of a file that is there and was not asked about: then `problem` says so.
QString askForSaveName(QWidget* parent, const QString& title, const QString& suggestion, const QString& format,
                       const QString& filter, QString* problem);

/// `path` with the ending, if it has another one or none.
QString withEnding(const QString& path, const QString& format);

}  // namespace kvasir::ui
