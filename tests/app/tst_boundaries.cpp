// SPDX-License-Identifier: GPL-3.0-or-later
// What may include what: kernels <- core <- ui <- app, and no Qt below ui.
#include <QDirIterator>
#include <QProcess>
#include <QRegularExpression>
#include <QtTest>

class TestBoundaries : public QObject {
    Q_OBJECT
    static QStringList includesOf(const QString& folder) {
        QStringList found;
        QDirIterator it(QString(KVASIR_SOURCE_DIR) + "/" + folder, {"*.h", "*.cpp", "*.in"}, QDir::Files,
                        QDirIterator::Subdirectories);
        static const QRegularExpression include("^#include [<\"]([^>\"]+)", QRegularExpression::MultilineOption);
        while (it.hasNext()) {
            QFile file(it.next());
            if (!file.open(QFile::ReadOnly)) continue;
            for (auto m = include.globalMatch(QString::fromUtf8(file.readAll())); m.hasNext();)
                found << m.next().captured(1);
        }
        return found;
    }

 private slots:
    void includesPointDownwards() {
        const auto forbid = [](const QString& folder, const QStringList& prefixes) {
            const QStringList includes = includesOf(folder);
            QVERIFY(includes.size() > 10);
            for (const QString& i : includes)
                for (const QString& p : prefixes)
                    QVERIFY2(!i.startsWith(p), qPrintable(folder + " includes " + i));
        };
        forbid("kernels", {"Q", "qcustomplot", "core/", "ui/", "app/"});
        forbid("core", {"Q", "qcustomplot", "ui/", "app/"});
        forbid("ui", {"kernels/", "app/"});
        forbid("core/cache", {"core/model", "core/measure", "core/session", "core/report"});
        forbid("core/model", {"core/measure", "core/session", "core/report"});
        forbid("core/measure", {"core/session", "core/report"});
    }
    void noQtSymbolInTheCommandLine() {
        QProcess ldd;
        ldd.start("ldd", {KVASIR_CLI});
        QVERIFY(ldd.waitForFinished());
        const QString libraries = ldd.readAllStandardOutput();
        QVERIFY(libraries.contains("libc."));
        QVERIFY2(!libraries.contains("Qt", Qt::CaseInsensitive), qPrintable(libraries));
    }
};

QTEST_APPLESS_MAIN(TestBoundaries)
#include "tst_boundaries.moc"
