// SPDX-License-Identifier: GPL-3.0-or-later
// Files of exports: never over what is in use, always with an ending, one that cannot be drawn does not hold up the
// rest.
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/shell/export_run.h"
#include "ui/shell/save_name.h"

namespace kvasir::ui {

class TestExportFiles : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(QLatin1String(name)); }

    static ExportJob job(const QString& path, QStringList* written, std::function<bool()> ready = {}) {
        return {path, [path, written] { return written->append(path), QString(); }, std::move(ready)};
    }

 private slots:
    void inputsAreNeverReplaced() {
        QFile model(path("model.gguf"));
        QVERIFY(model.open(QIODevice::WriteOnly) && model.write("weights") > 0);
        model.close();
        QVERIFY(QFile::link(model.fileName(), path("link.png")));
        const std::vector<std::pair<QString, QString>> inputs{{model.fileName(), QStringLiteral("the model")}};
        QStringList written;
        for (const char* name : {"model.gguf", "link.png"}) {
            const QString why = refusal({job(path(name), &written)}, inputs);
            QVERIFY2(why.contains(QStringLiteral("the model")), qPrintable(why));
        }
        QCOMPARE(refusal({job(path("plot.png"), &written)}, inputs), QString());
        QVERIFY(!refusal({job(path("no folder/plot.png"), &written)}, inputs).isEmpty());
        QVERIFY(!refusal({job(path("a.png"), &written), job(path("a.png"), &written)}, inputs).isEmpty());
    }

    void namesGetAnEnding() {
        QCOMPARE(withEnding(QStringLiteral("/dev/null"), QStringLiteral("png")), QStringLiteral("/dev/null"));
        QCOMPARE(withEnding(QStringLiteral("/a/plot"), QStringLiteral("png")), QStringLiteral("/a/plot.png"));
        QCOMPARE(withEnding(QStringLiteral("/a/plot.v2"), QStringLiteral("svg")), QStringLiteral("/a/plot.v2.svg"));
        QCOMPARE(withEnding(QStringLiteral("/a/plot.PNG"), QStringLiteral("png")), QStringLiteral("/a/plot.PNG"));
        QCOMPARE(withEnding(QStringLiteral("/a.b/plot"), QStringLiteral("csv")), QStringLiteral("/a.b/plot.csv"));
    }

    void whatNeverComesIsLeftOutAndSaid() {
        QStringList written;
        int asked = 0;
        auto* run = new ExportRun(
            {job(path("1.png"), &written), job(path("2.png"), &written, [] { return false; }),
             job(path("3.png"), &written, [&asked] { return ++asked > 3; }), job(path("4.png"), &written)},
            nullptr, 300);
        QSignalSpy finished(run, &ExportRun::finished);
        QTRY_COMPARE(finished.count(), 1);
        QCOMPARE(finished[0][1].toString(), QString());
        const QStringList left_out = finished[0][2].toStringList();
        QCOMPARE(left_out.constFirst(), QStringLiteral("2.png"));
        QCOMPARE(written.size() + left_out.size(), 4);
        QVERIFY(written.contains(path("4.png")));
    }

    void theFirstProblemEndsIt() {
        QStringList written;
        auto* run = new ExportRun(
            {{path("1.png"), [] { return QStringLiteral("the disk is full"); }, {}}, job(path("2.png"), &written)},
            nullptr);
        QSignalSpy finished(run, &ExportRun::finished);
        QTRY_COMPARE(finished.count(), 1);
        QCOMPARE(finished[0][1].toString(), QStringLiteral("the disk is full"));
        QVERIFY(written.isEmpty());
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestExportFiles)
#include "tst_export_files.moc"
