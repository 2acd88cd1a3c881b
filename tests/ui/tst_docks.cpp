// SPDX-License-Identifier: GPL-3.0-or-later
// Docks that a person drags about.
#include "ui/shell/main_window.h"
#include "ui/shell/plot_dock.h"

using namespace kvasir::ui;

namespace {

/// With the mouse held over its title, by 300 pixels to the left.
void dragOut(QDockWidget& dock) {
    const QPoint from = dock.titleBarWidget()->geometry().center();
    const auto send = [&](QEvent::Type type, QPoint at, Qt::MouseButtons held) {
        QMouseEvent event(type, at, dock.mapToGlobal(at), type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton,
                          held, {});
        QApplication::sendEvent(&dock, &event);
        QApplication::processEvents();
    };
    send(QEvent::MouseButtonPress, from, Qt::LeftButton);
    for (int i = 1; i <= 5; ++i)
        send(QEvent::MouseMove, from + QPoint(-60 * i, 20 * i), Qt::LeftButton);
    send(QEvent::MouseButtonRelease, from + QPoint(-300, 100), Qt::NoButton);
}

}  // namespace

class TestDocks : public QObject {
    Q_OBJECT

 private slots:
    /// Qt's windows for groups of docks are painted after they were closed.
    void aDraggedTabComesAlone() {
        Settings settings(false);
        MainWindow window(settings);
        window.resize(1366, 768);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        PlotDock* dragged = window.plotDocks().front();
        dragged->raise();
        QApplication::processEvents();
        const QList<QDockWidget*> tabs = window.tabifiedDockWidgets(dragged);
        QVERIFY(!tabs.isEmpty());
        QVERIFY(!dragged->visibleRegion().isEmpty());
        dragOut(*dragged);
        QVERIFY(dragged->isFloating());
        for (const QDockWidget* tab : tabs)
            QVERIFY(!tab->isFloating() && tab->window() == &window);
        for (const QWidget* w : QApplication::topLevelWidgets())
            QVERIFY(!w->inherits("QDockWidgetGroupWindow") || w->isHidden());
        window.restoreDefaultLayout();
        QVERIFY(!dragged->isFloating());
    }
};

QTEST_MAIN(TestDocks)
#include "tst_docks.moc"
