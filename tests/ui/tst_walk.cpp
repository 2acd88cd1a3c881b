// SPDX-License-Identifier: GPL-3.0-or-later
// The random walk over the real window, each seed in a process of its own: a crash ends that one only, and its last
// steps are printed here with the way to repeat it. The long walk is tools/walk.
#include <QApplication>
#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <cstdio>

#include "ui/walk/walk.h"

namespace {

constexpr char kSeed[] = "KVASIR_WALK_SEED", kSteps[] = "KVASIR_WALK_STEPS";
constexpr int kShort = 100;

/// With a seed in the environment this program is the walk itself, and says each step on stderr.
int walkAlone(int argc, char** argv) {
    const QTemporaryDir folder;
    for (const char* name :
         {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"})
        qputenv(name, folder.path().toUtf8());
    qputenv("KVASIR_MODEL", folder.filePath(QStringLiteral("tiny.gguf")).toUtf8());
    QDir::setCurrent(folder.path());
    std::setvbuf(stderr, nullptr, _IOLBF, 4096);
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QApplication app(argc, argv);
    QApplication::setQuitOnLastWindowClosed(false);
    kvasir::test::collectWarnings();
    const int n_steps = qEnvironmentVariableIsSet(kSteps) ? qEnvironmentVariableIntValue(kSteps) : kShort;
    kvasir::test::Walk walk(qEnvironmentVariable(kSeed).toULongLong(), folder.path());
    const QString problem = walk.run(n_steps);
    if (!problem.isEmpty()) std::fprintf(stderr, "%s\n", qPrintable(problem));
    return problem.isEmpty() ? 0 : 1;
}

}  // namespace

class TestWalk : public QObject {
    Q_OBJECT
 private slots:
    void theWindowSurvives_data() {
        QTest::addColumn<int>("seed");
        for (const int seed : {1, 2, 3})
            QTest::addRow("seed %d", seed) << seed;
    }
    void theWindowSurvives() {
        QFETCH(int, seed);
        const QTemporaryDir folder;  // of what a crashed walk leaves behind
        QProcess walk;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QLatin1String(kSeed), QString::number(seed));
        environment.insert(QLatin1String(kSteps), QString::number(kShort));
        environment.insert(QStringLiteral("TMPDIR"), folder.path());
        walk.setProcessEnvironment(environment);
        walk.setProcessChannelMode(QProcess::MergedChannels);
        walk.start(QCoreApplication::applicationFilePath());
        QVERIFY(walk.waitForFinished(-1));
        if (walk.exitStatus() == QProcess::NormalExit && walk.exitCode() == 0) return;
        const QStringList said = QString::fromUtf8(walk.readAll()).split(QLatin1Char('\n'));
        QFAIL(qPrintable(
            QStringLiteral("%1\n%2\nTo repeat: %3=%4 %5=%6 QT_QPA_PLATFORM=offscreen %7")
                .arg(walk.exitStatus() == QProcess::CrashExit ? QStringLiteral("the window crashed or hung after")
                                                              : QStringLiteral("the window is not sound"),
                     said.mid(std::max(qsizetype(0), said.size() - 40)).join(QLatin1Char('\n')), QLatin1String(kSeed))
                .arg(seed)
                .arg(QLatin1String(kSteps))
                .arg(kShort)
                .arg(QCoreApplication::applicationFilePath())));
    }
};

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsSet(kSeed)) return walkAlone(argc, argv);
    QCoreApplication app(argc, argv);
    TestWalk test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_walk.moc"
