// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/figure_words.h"

#include <QCoreApplication>

namespace kvasir::ui {

QString figureText(const Figure& figure, const std::function<QString(double)>& write) {
    const auto word = [](const char* text) { return QCoreApplication::translate("FigureWords", text).toStdString(); };
    const FigureWords words{"–", word("0 % read"), word("not a number"), word("failed"), ""};
    return QString::fromStdString(figure_text(
        figure, [&](double value) { return write(value).toStdString(); }, words));
}

}  // namespace kvasir::ui
