// SPDX-License-Identifier: GPL-3.0-or-later
// The menu bar, made from the one table of actions: File, Edit, View, Run, Help.
#pragma once

class QMenu;
class QMenuBar;

namespace kvasir::ui {

class Actions;

/// Every action of the table, in its order, with a line before each that begins another subject.
void fillMenuBar(QMenuBar& bar, const Actions& actions);
/// The menu of a group of the table, by its English name.
QMenu* menuOf(const QMenuBar& bar, const char* group);

}  // namespace kvasir::ui
