// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

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
    : QFrame(parent), kind_(kind), text_(new QLabel(sentence, this)), row_(new QHBoxLayout(this)) {
    row_->setContentsMargins(12, 5, 4, 5);
    row_->setSpacing(8);
    auto* sign = new QToolButton(this);
    sign->setIcon(icon(iconOf(kind), kind == Kind::info ? QStringLiteral("dim") : roleOf(kind)));
    sign->setEnabled(true);
    sign->setFocusPolicy(Qt::NoFocus);
    sign->setAttribute(Qt::WA_TransparentForMouseEvents);
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row_->addWidget(sign);
    row_->addWidget(text_, 1);
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
    row_->insertWidget(row_->count() - 1, button);
}

QString MessageBar::sentence() const {
    return text_->text();
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
    column_->setSpacing(4);
    hide();
}

MessageBar* MessageArea::show(const QString& key, MessageBar::Kind kind, const QString& sentence) {
    clear(key);
    auto* bar = new MessageBar(kind, sentence, this);
    bar->setObjectName(key);
    connect(bar, &MessageBar::closed, this, [this, key] { clear(key); });
    column_->addWidget(bar);
    setVisible(true);
    return bar;
}

void MessageArea::clear(const QString& key) {
    if (MessageBar* bar = message(key)) {
        column_->removeWidget(bar);
        bar->setObjectName(QString());
        bar->hide();
        bar->deleteLater();
    }
    setVisible(column_->count() > 0);
}

MessageBar* MessageArea::message(const QString& key) const {
    return findChild<MessageBar*>(key, Qt::FindDirectChildrenOnly);
}

}  // namespace kvasir::ui
