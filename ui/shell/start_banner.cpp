// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/start_banner.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/shell/icons.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

StartBanner::StartBanner(QWidget* parent)
    : QFrame(parent),
      row_(new QBoxLayout(QBoxLayout::LeftToRight, this)),
      title_(new OneLineLabel(this)),
      text_(new OneLineLabel(this)),
      last_(new QPushButton(tr("Last session"), this)),
      run_(new QPushButton(this)) {
    setObjectName(QStringLiteral("card"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    row_->setContentsMargins(14, 8, 14, 8);
    title_->setObjectName(QStringLiteral("banner-title"));
    typeset(title_, 12, Face::semibold);
    typeset(text_, 10, Face::regular, QStringLiteral("dim"));
    run_->setObjectName(QStringLiteral("primary"));
    run_->setIcon(icon(QStringLiteral("run"), QStringLiteral("on_accent")));
    auto* words = new QVBoxLayout;
    words->setSpacing(1);
    words->addStretch(1);
    words->addWidget(title_);
    words->addWidget(text_);
    words->addStretch(1);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(last_);
    buttons->addWidget(run_);
    row_->addLayout(words, 1);
    row_->addLayout(buttons);
}

void StartBanner::setWords(const QString& title, const QString& text) {
    title_->setText(title);
    text_->setText(text);
    title_->setToolTip(title + QLatin1Char('\n') + text);
    arrange();
}

void StartBanner::arrange() {
    const QMargins margins = row_->contentsMargins();
    int buttons = run_->sizeHint().width();
    if (!last_->isHidden()) buttons += last_->sizeHint().width() + row_->spacing();
    const int room = width() - margins.left() - margins.right() - buttons - row_->spacing();
    const bool above = title_->sizeHint().width() > room;
    row_->setDirection(above ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    text_->setVisible(!above);
}

void StartBanner::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    arrange();
}

/// Other type, other words on a button, a button more or less.
bool StartBanner::event(QEvent* event) {
    const bool done = QFrame::event(event);
    if (event->type() == QEvent::LayoutRequest) arrange();
    return done;
}

}  // namespace kvasir::ui
