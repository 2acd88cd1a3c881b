// SPDX-License-Identifier: GPL-3.0-or-later
// Type sizes and text colours of stock widgets by role, kept right when the theme or the type scale changes.
#pragma once

#include <QLabel>
#include <QWidget>

namespace kvasir::ui {

enum class Face { regular, semibold, mono };

/// Points at scale 1; `role` is a colour role of the theme, "" keeps the palette's colour.
void typeset(QWidget* widget, double points, Face face = Face::regular, const QString& role = QString());

/// Applies what typeset() recorded to `root` and everything below it; call it after Theme::changed.
void retypeset(QWidget* root);

QLabel* makeLabel(const QString& text, double points, Face face = Face::regular, const QString& role = QString(),
                  QWidget* parent = nullptr);
/// Section heading: 9.5 semibold in `dim`.
QLabel* makeHeading(const QString& text, QWidget* parent = nullptr);
/// 1 px horizontal line.
QWidget* makeLine(QWidget* parent = nullptr);

/// One line of text that is cut with an ellipsis and tells all of it in its tooltip.
class OneLineLabel : public QWidget {
    Q_OBJECT
 public:
    explicit OneLineLabel(QWidget* parent = nullptr);
    void setText(const QString& text);
    QString text() const { return text_; }
    void setElideMode(Qt::TextElideMode mode);
    void setAlignment(Qt::Alignment alignment);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

 protected:
    void paintEvent(QPaintEvent*) override;

 private:
    QString text_;
    Qt::TextElideMode mode_ = Qt::ElideRight;
    Qt::Alignment alignment_ = Qt::AlignLeft | Qt::AlignVCenter;
};

}  // namespace kvasir::ui
