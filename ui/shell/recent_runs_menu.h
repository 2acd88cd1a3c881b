// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>
#include <functional>

#include "ui/shell/session_files.h"

namespace kvasir::ui {

/// The runs before the one on screen, newest first; a choice shows one again.
class RecentRunsMenu : public QMenu {
    Q_OBJECT
 public:
    RecentRunsMenu(SessionFiles& files, std::function<bool()> may_replace, QWidget* parent = nullptr);
};

}  // namespace kvasir::ui
