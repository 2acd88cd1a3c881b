// SPDX-License-Identifier: GPL-3.0-or-later
// Somebody answers the dialogs and menus that a step opens: pokes at them, then accepts or leaves.
#include <QAbstractButton>
#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QTest>
#include <QTimer>

#include "ui/walk/walk.h"

namespace kvasir::test {

namespace {

constexpr int kPatience = 40;  // answers in one step until what is open is told to go; twice as many and it is stuck

void answerFileDialog(Walk& walk, QFileDialog& dialog, Dice& dice) {
    if (dice.oneIn(3)) return dialog.reject();
    const QString path = dialog.fileMode() == QFileDialog::Directory ? walk.files().folderTarget(dice)
                         : dialog.acceptMode() == QFileDialog::AcceptSave
                             ? walk.files().target(dice, dialog.windowTitle().contains(QLatin1String("Export"))
                                                             ? QStringLiteral(".png")
                                                             : QStringLiteral(".kvasir"))
                             : walk.files().any(dice);
    walk.say(QStringLiteral("  answers %1").arg(path));
    if (auto* name = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))) name->setText(path);
    QMetaObject::invokeMethod(&dialog, "accept");
}

void answerMenu(Walk& walk, QWidget& menu, Dice& dice) {
    const Qt::Key keys[] = {Qt::Key_Down, Qt::Key_Down,   Qt::Key_Up,    Qt::Key_Right,
                            Qt::Key_Left, Qt::Key_Return, Qt::Key_Escape};
    const Qt::Key key = dice.of(keys);
    if (auto* actions = qobject_cast<QMenu*>(&menu); actions && key == Qt::Key_Return && actions->activeAction())
        walk.say(QStringLiteral("  takes %1").arg(actions->activeAction()->text()));
    QTest::keyClick(&menu, key);
}

}  // namespace

/// A single shot each time: one that repeats would not fire again while its own answer opens the next dialog.
void Walk::armAnswers() {
    QTimer::singleShot(6, &alive_, [this] {
        armAnswers();
        answerWhatIsOpen();
    });
}

void Walk::answerWhatIsOpen() {
    QWidget* popup = QApplication::activePopupWidget();
    QWidget* dialog = popup ? popup : QApplication::activeModalWidget();
    if (!dialog) return;
    if (++n_answers_ > 2 * kPatience) qFatal("it does not close: %s", dialog->metaObject()->className());
    if (dialog != asked_)
        say(QStringLiteral("  %1 \"%2\"").arg(QLatin1String(dialog->metaObject()->className()), dialog->windowTitle()));
    asked_ = dialog;
    if (n_answers_ > kPatience) return void(dialog->close());
    if (popup) return answerMenu(*this, *popup, answers_);
    if (auto* files = qobject_cast<QFileDialog*>(dialog)) return answerFileDialog(*this, *files, answers_);
    if (auto* box = qobject_cast<QMessageBox*>(dialog)) {
        if (box->buttons().isEmpty() || answers_.oneIn(4)) return box->reject();
        QAbstractButton* button = answers_.of(box->buttons());
        say(QStringLiteral("  answers %1").arg(button->text()));
        return button->click();
    }
    switch (answers_.below(6)) {
        case 0:
            return void(QTest::keyClick(dialog, Qt::Key_Escape));
        case 1:
            return void(QTest::keyClick(dialog, Qt::Key_Return));
        default:
            pokeSomewhere(*dialog, answers_, [this](const QString& what) { say(QStringLiteral("  ") + what); });
    }
}

}  // namespace kvasir::test
