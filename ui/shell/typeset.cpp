// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/typeset.h"

#include <QFrame>
#include <QPainter>
#include <algorithm>

#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {

constexpr char kPoints[] = "kvasirPoints", kFace[] = "kvasirFace", kRole[] = "kvasirRole";

void applyTo(QWidget* widget) {
    const QVariant points = widget->property(kPoints);
    if (!points.isValid()) return;
    const Theme& theme = Theme::instance();
    const Face face = Face(widget->property(kFace).toInt());
    widget->setFont(face == Face::mono ? theme.mono(points.toDouble())
                                       : theme.font(points.toDouble(), face == Face::semibold));
    const QString role = widget->property(kRole).toString();
    if (role.isEmpty()) return;
    QPalette palette = widget->palette();
    for (const auto group : {QPalette::Active, QPalette::Inactive}) {
        palette.setColor(group, QPalette::WindowText, theme.colour(role));
        palette.setColor(group, QPalette::Text, theme.colour(role));
        palette.setColor(group, QPalette::ButtonText, theme.colour(role));
    }
    widget->setPalette(palette);
}

class Hairline : public QWidget {
 public:
    explicit Hairline(QWidget* parent) : QWidget(parent) { setFixedHeight(1); }

 protected:
    void paintEvent(QPaintEvent*) override {
        QPainter(this).fillRect(rect(), Theme::instance().colour(QStringLiteral("line")));
    }
};

}  // namespace

void typeset(QWidget* widget, double points, Face face, const QString& role) {
    widget->setProperty(kPoints, points);
    widget->setProperty(kFace, int(face));
    widget->setProperty(kRole, role);
    applyTo(widget);
}

void retypeset(QWidget* root) {
    applyTo(root);
    for (QWidget* child : root->findChildren<QWidget*>())
        applyTo(child);
}

QLabel* makeLabel(const QString& text, double points, Face face, const QString& role, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    typeset(label, points, face, role);
    return label;
}

QLabel* makeHeading(const QString& text, QWidget* parent) {
    return makeLabel(text, 9.5, Face::semibold, QStringLiteral("dim"), parent);
}

QWidget* makeLine(QWidget* parent) {
    return new Hairline(parent);
}

OneLineLabel::OneLineLabel(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void OneLineLabel::setText(const QString& text) {
    if (text == text_) return;
    const int had = std::max(width(), sizeHint().width());
    text_ = text;
    setToolTip(text);
    setAccessibleName(text);
    // A text that fits, or wants no more than the one before, needs no new layout of the window: it changes with every
    // frame of a run.
    if (sizeHint().width() > had) updateGeometry();
    update();
}

void OneLineLabel::setElideMode(Qt::TextElideMode mode) {
    mode_ = mode;
}
void OneLineLabel::setAlignment(Qt::Alignment alignment) {
    alignment_ = alignment;
}

QSize OneLineLabel::sizeHint() const {
    return {fontMetrics().horizontalAdvance(text_) + 2, fontMetrics().height() + 2};
}

QSize OneLineLabel::minimumSizeHint() const {
    return {std::min(sizeHint().width(), fontMetrics().averageCharWidth() * 4), fontMetrics().height() + 2};
}

void OneLineLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::WindowText));
    painter.drawText(rect(), int(alignment_), fontMetrics().elidedText(text_, mode_, width()));
}

}  // namespace kvasir::ui
