// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/shell/icons.h"
#include "ui/shell/theme.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

QString roleOf(MessageBar::Kind kind) {
    switch (kind) {
        case MessageBar::Kind::warn:
            return QStringLiteral("warn");
        case MessageBar::Kind::bad:
            return QStringLiteral("bad");
        case MessageBar::Kind::info:
            break;
    }
    return QStringLiteral("edge");
}

QString iconOf(MessageBar::Kind kind) {
    switch (kind) {
        case MessageBar::Kind::warn:
            return QStringLiteral("warn");
        case MessageBar::Kind::bad:
            return QStringLiteral("error");
        case MessageBar::Kind::info:
            break;
    }
    return QStringLiteral("info");
}

}  // namespace

MessageBar::MessageBar(Kind kind, const QString& sentence, QWidget* parent)
    : QFrame(parent),
      kind_(kind),
      line_(new OneLineLabel(this)),
      all_(new QLabel(sentence, this)),
      unfold_(new QToolButton(this)),
      others_(new QToolButton(this)),
      row_(new QHBoxLayout(this)) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);  // where room is short the lanes give way, not the words
    row_->setContentsMargins(12, 3, 4, 3);
    row_->setSpacing(8);
    auto* sign = new QToolButton(this);
    sign->setIcon(icon(iconOf(kind), kind == Kind::info ? QStringLiteral("dim") : roleOf(kind)));
    sign->setFocusPolicy(Qt::NoFocus);
    sign->setAttribute(Qt::WA_TransparentForMouseEvents);
    line_->setText(sentence);
    all_->setWordWrap(true);
    all_->setTextFormat(Qt::PlainText);
    all_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    all_->hide();
    row_->addWidget(sign);
    row_->addWidget(line_, 1);
    row_->addWidget(all_, 1);
    unfold_->setIcon(icon(QStringLiteral("down")));
    unfold_->setCheckable(true);
    unfold_->setToolTip(tr("The whole message"));
    unfold_->setAccessibleName(tr("The whole message"));
    unfold_->hide();
    connect(unfold_, &QToolButton::toggled, this, [this](bool whole) {
        line_->setVisible(!whole);
        all_->setVisible(whole);
    });
    row_->addWidget(unfold_);
    others_->setToolTip(tr("The messages before this one"));
    others_->hide();
    connect(others_, &QToolButton::clicked, this,
            [this] { emit othersWanted(others_->mapToGlobal(QPoint(0, others_->height()))); });
    row_->addWidget(others_);
    auto* close = new QToolButton(this);
    close->setIcon(icon(QStringLiteral("close")));
    close->setToolTip(tr("Close this message"));
    close->setAccessibleName(tr("Close this message"));
    connect(close, &QToolButton::clicked, this, &MessageBar::closed);
    row_->addWidget(close);
    setAccessibleName(sentence);
}

void MessageBar::addAction(const QString& text, std::function<void()> run, bool keep) {
    auto* button = new QPushButton(text, this);
    connect(button, &QPushButton::clicked, this, [this, run = std::move(run), keep] {
        run();
        if (!keep) emit closed();
    });
    row_->insertWidget(row_->indexOf(others_), button);
}

QString MessageBar::sentence() const {
    return all_->text();
}

void MessageBar::setWaiting(int n) {
    others_->setText(tr("+%1").arg(n));
    others_->setAccessibleName(tr("%1 other messages").arg(n));
    others_->setVisible(n > 0);
}

/// The button that unfolds is there when something is cut.
void MessageBar::showUnfoldable() {
    const int needed = line_->sizeHint().width();
    const bool cut = unfold_->isChecked() ? needed > all_->width() : needed > line_->width();
    unfold_->setVisible(cut || unfold_->isChecked());
}

void MessageBar::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    showUnfoldable();
}

void MessageBar::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const QColor colour = theme.colour(roleOf(kind_));
    QPainter painter(this);
    painter.fillRect(rect(), theme.colour(QStringLiteral("base")));
    painter.setPen(colour);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    painter.fillRect(QRect(0, 0, 4, height()), colour);
}

MessageArea::MessageArea(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(0);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    hide();
}

MessageBar* MessageArea::show(const QString& key, MessageBar::Kind kind, const QString& sentence) {
    // what says the same as before keeps its place in the row
    const MessageBar* before = message(key);
    const auto old = std::find(bars_.begin(), bars_.end(), before);
    const bool same = before && before->sentence() == sentence && before->kind() == kind;
    auto place = old - bars_.begin();
    clear(key);
    if (!same) {
        auto at = bars_.end();
        while (kind != MessageBar::Kind::bad && at != bars_.begin() && at[-1]->isQuestion())
            --at;
        place = at - bars_.begin();
    }
    auto* bar = new MessageBar(kind, sentence, this);
    bar->setObjectName(key);
    connect(bar, &MessageBar::closed, this, [this, key] { clear(key); });
    connect(bar, &MessageBar::othersWanted, this, &MessageArea::listOthers);
    column_->addWidget(bar);
    bars_.insert(bars_.begin() + place, bar);
    arrange();
    return bar;
}

void MessageArea::clear(const QString& key) {
    if (MessageBar* bar = message(key)) {
        std::erase(bars_, bar);
        column_->removeWidget(bar);
        bar->setObjectName(QString());
        bar->hide();
        bar->deleteLater();
    }
    arrange();
}

void MessageArea::arrange() {
    for (MessageBar* bar : bars_) {
        bar->setWaiting(int(bars_.size()) - 1);
        bar->setVisible(bar == bars_.back());
    }
    setVisible(!bars_.empty());
}

void MessageArea::bringForward(const QString& key) {
    const auto at = std::find(bars_.begin(), bars_.end(), message(key));
    if (at == bars_.end()) return;
    std::rotate(at, at + 1, bars_.end());
    arrange();
}

void MessageArea::listOthers(const QPoint& global) {
    QMenu menu;
    for (auto bar = bars_.rbegin(); bar != bars_.rend(); ++bar) {
        if (*bar == bars_.back()) continue;
        const QString sentence = (*bar)->sentence();
        QAction* action = menu.addAction(menu.fontMetrics().elidedText(
            QString(sentence).replace(QLatin1Char('&'), QLatin1String("&&")), Qt::ElideRight,
            std::max(200, screen()->availableGeometry().right() - global.x() > 400
                              ? screen()->availableGeometry().right() - global.x() - 80
                              : width() * 2 / 3)));
        action->setToolTip(sentence);
        connect(action, &QAction::triggered, this, [this, key = (*bar)->objectName()] { bringForward(key); });
    }
    menu.setToolTipsVisible(true);
    menu.exec(global);
}

MessageBar* MessageArea::message(const QString& key) const {
    for (MessageBar* bar : bars_)
        if (bar->objectName() == key) return bar;
    return nullptr;
}

}  // namespace kvasir::ui
