// SPDX-License-Identifier: GPL-3.0-or-later
// Every action of the table, triggered once before a run and once after it; dialogs are opened and cancelled.
#include <QApplication>
#include <QSet>
#include <QTest>
#include <QTimer>
#include <memory>

#include "support/default_model.h"
#include "ui/shell/main_window.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestActions : public QObject {
    Q_OBJECT
    Settings settings_{false};
    std::unique_ptr<MainWindow> window_;
    QTimer canceller_;
    QSet<QString> dialogs_;  ///< classes of the dialogs that were seen

    EngineState state() const { return window_->controller().status().state; }

    void triggerAll() {
        for (const ActionRow& row : Actions::table()) {
            if (QByteArrayView(row.id) == "quit" || QByteArrayView(row.id) == "run") continue;
            QAction* action = window_->actions()[row.id];
            QVERIFY2(action, row.id);
            const Experiment before = window_->controller().experiment();
            action->trigger();
            QTest::qWait(5);
            QVERIFY2(window_->isVisible(), row.id);
            // A cancelled dialog changes nothing.
            if (QString::fromLatin1(row.text).endsWith(QLatin1String("...")))
                QVERIFY2(window_->controller().experiment() == before, row.id);
        }
    }

 private slots:
    void initTestCase() {
        window_ = std::make_unique<MainWindow>(settings_);
        window_->resize(1400, 900);  // the screen of the offscreen platform is a small one
        window_->show();
        connect(&canceller_, &QTimer::timeout, this, [this] {
            if (QWidget* popup = QApplication::activePopupWidget()) popup->close();
            if (QWidget* dialog = QApplication::activeModalWidget()) {
                dialogs_.insert(QLatin1String(dialog->metaObject()->className()));
                dialog->close();
            }
        });
        canceller_.start(40);
    }
    void everyActionHasHelpAndShortcutsAreUnique() {
        QSet<QString> seen;
        for (const ActionRow& row : Actions::table()) {
            QVERIFY2(*row.help, row.id);
            for (const QString& shortcut :
                 QString::fromLatin1(row.shortcuts).split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
                QVERIFY2(!seen.contains(shortcut), qPrintable(shortcut));
                QVERIFY2(!QKeySequence(shortcut).isEmpty(), qPrintable(shortcut));
                seen.insert(shortcut);
            }
        }
    }
    void beforeARun() { triggerAll(); }
    void afterARun() {
        KVASIR_NEEDS_MODEL(model);
        window_->openPath(QString::fromStdString(model), false);
        QTRY_VERIFY_WITH_TIMEOUT(window_->controller().model(), 120000);
        Experiment e = Experiment::first_start();
        e.n_tokens = 6;
        window_->controller().setExperiment(e);
        window_->actions()["run"]->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(state(), EngineState::finished, 120000);
        triggerAll();
        QVERIFY2(dialogs_.size() >= 5, qPrintable(QStringList(dialogs_.values()).join(QLatin1Char(' '))));
        window_->actions()["stop"]->trigger();
    }
};

QTEST_MAIN(TestActions)
#include "tst_actions.moc"
