// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/text_preview.h"

#include <QEvent>
#include <QPainter>
#include <QTextLayout>

namespace kvasir::ui {

namespace {
constexpr int kShownAtMost = 600, kTipAtMost = 2000;  // characters
}

TextPreview::TextPreview(int n_lines, QWidget* parent) : QWidget(parent), n_lines_(n_lines) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TextPreview::setText(const QString& text) {
    text_ = text.left(kShownAtMost);
    text_.replace(QLatin1Char('\n'), QChar::LineSeparator);
    setToolTip(text.left(kTipAtMost).toHtmlEscaped().prepend(QLatin1String("<p style='white-space:pre-wrap'>")));
    setAccessibleName(text.left(kTipAtMost));
    update();
}

QSize TextPreview::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 24, fontMetrics().lineSpacing() * n_lines_};
}

QSize TextPreview::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 8, sizeHint().height()};
}

void TextPreview::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::WindowText));
    QTextLayout layout(text_, font());
    layout.beginLayout();
    int y = 0;
    for (int i = 0; i < n_lines_; ++i) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) break;
        line.setLineWidth(width());
        const bool last = i + 1 == n_lines_, more = line.textStart() + line.textLength() < text_.size();
        QString words = text_.mid(line.textStart(), line.textLength());
        words.remove(QChar::LineSeparator);
        if (last && more) words += QChar(0x2026);
        painter.drawText(0, y + fontMetrics().ascent(), fontMetrics().elidedText(words, Qt::ElideRight, width()));
        y += fontMetrics().lineSpacing();
    }
    layout.endLayout();
}

void TextPreview::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) updateGeometry();
}

}  // namespace kvasir::ui
