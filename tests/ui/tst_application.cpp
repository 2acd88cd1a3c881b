// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that runs out in the window's own work: the event is given up, the program is not.
#include "ui/shell/application.h"

#include <new>
#include <stdexcept>

using namespace kvasir::ui;

/// Does in an event and in a slot what it has no memory for.
class Greedy : public QObject {
    Q_OBJECT
 public:
    bool event(QEvent* e) override {
        if (e->type() != QEvent::User) return QObject::event(e);
        throw std::bad_alloc();
    }
 signals:
    void wanted();
};

class TestApplication : public QObject {
    Q_OBJECT

    static Application& app() { return *static_cast<Application*>(qApp); }

 private slots:
    void whatThereIsNoMemoryForIsGivenUp() {
        int n_times = 0;
        app().whenMemoryRunsOut([&] { ++n_times; });
        Greedy greedy;
        QCoreApplication::postEvent(&greedy, new QEvent(QEvent::User));
        QCoreApplication::processEvents();
        QCOMPARE(n_times, 1);
        connect(&greedy, &Greedy::wanted, [] { throw std::length_error("longer than any memory"); });
        QTimer::singleShot(0, &greedy, &Greedy::wanted);
        QTRY_COMPARE(n_times, 2);
        bool alive = false;
        QTimer::singleShot(0, &greedy, [&] { alive = true; });
        QTRY_VERIFY(alive);
    }

    void evenSayingSoMayFail() {
        app().whenMemoryRunsOut([] { throw std::bad_alloc(); });
        Greedy greedy;
        QVERIFY(!QCoreApplication::sendEvent(&greedy, std::make_unique<QEvent>(QEvent::User).get()));
        app().whenMemoryRunsOut({});
    }
};

int main(int argc, char** argv) {
    Application app(argc, argv);
    TestApplication test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_application.moc"
