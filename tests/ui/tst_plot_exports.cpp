// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of plots as files: right size, light whatever the theme, complete provenance, whole or not at all.
#include <sys/resource.h>

#include <QImage>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>
#include <csignal>

#include "tst_plot_run.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/plot_text.h"

namespace kvasir::ui {

namespace {
const PlotTexts kTexts{QStringLiteral("error-per-token"), QStringLiteral("Error per token"), QStringLiteral("?")};
}

class TestPlotExports : public QObject {
    Q_OBJECT
 private slots:
    void init();
    void pngHasSizeAndInk();
    void picturesAreLightInDarkTheme();
    void svgIsXmlWithProvenance();
    void pdfIsWritten();
    void hiddenPlotsExportAllTokens();
    void heldViewIsKept();
    void themeChangesRestyle();
    void missingFolderIsRefused();
    void fullDiskLeavesOldFile();
    void captionsAndTablesSayWhatWasMeasured();
    void lanesWithoutFiguresSayWhy();
    void formulasStayText();

 private:
    QString path(const char* name) const { return folder_.filePath(QLatin1String(name)); }

    QTemporaryDir folder_;
    HandFeed feed_;
    ViewState view_;
};

void TestPlotExports::init() {
    Theme::instance().apply(*qApp, Theme::Kind::light, 1);
    feed_.begin(emptyRun(80));
    feed_.append(handRecords(0, 80));
}

void TestPlotExports::pngHasSizeAndInk() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    QString error;
    for (const int scale : {1, 2, 4}) {
        QVERIFY2(plot.savePng(path("a.png"), scale, &error), qPrintable(error));
        const QImage image(path("a.png"));
        QCOMPARE(image.width(), 643 * scale);  // 170 mm at 96 dots an inch
        QVERIFY(image.height() > 300 * scale);
        QCOMPARE(image.pixelColor(1, 1), QColor(Qt::white));
        const QColor blue = Theme::instance().lane(0, false).colour;
        int n_ink = 0, n_blue = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) {
                n_ink += image.pixelColor(x, y) != QColor(Qt::white);
                n_blue += image.pixelColor(x, y) == blue;
            }
        QVERIFY(n_ink > 2000 * scale);
        QVERIFY(n_blue > 100 * scale);
        QCOMPARE(image.text(QStringLiteral("Description")),
                 (QStringList{provenance(feed_.run()), unequalNote(feed_.run()), captionNotes(feed_.run())}.join(
                     QStringLiteral(" · "))));
    }
}

void TestPlotExports::picturesAreLightInDarkTheme() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    QString error;
    QVERIFY(plot.savePng(path("light.png"), 1, &error));
    Theme::instance().apply(*qApp, Theme::Kind::dark, 1.5);
    QVERIFY(plot.savePng(path("dark.png"), 1, &error));
    QCOMPARE(QImage(path("light.png")), QImage(path("dark.png")));
}

void TestPlotExports::svgIsXmlWithProvenance() {
    QString error;
    ErrorPerToken errors(feed_, view_, kTexts, nullptr);
    ErrorByLayer layers(feed_, view_, kTexts, nullptr);
    MemoryPlot memory(feed_, view_, kTexts, nullptr);
    for (PlotView* plot :
         {static_cast<PlotView*>(&errors), static_cast<PlotView*>(&layers), static_cast<PlotView*>(&memory)}) {
        QVERIFY2(plot->saveSvg(path("a.svg"), &error), qPrintable(error));
        QFile file(path("a.svg"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QXmlStreamReader xml(&file);
        int n_elements = 0;
        QString description;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement) continue;
            ++n_elements;
            if (xml.name() == QLatin1String("desc")) description = xml.readElementText();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY(n_elements > 50);
        QVERIFY(description.contains(QStringLiteral("80 tokens scored from 128")));
        QVERIFY(description.contains(QStringLiteral("residual 128 · 128 · 32")));
    }
}

void TestPlotExports::pdfIsWritten() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    QString error;
    QVERIFY2(plot.savePdf(path("a.pdf"), &error), qPrintable(error));
    QFile file(path("a.pdf"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    QVERIFY(bytes.startsWith("%PDF-"));
    QVERIFY(bytes.contains("%%EOF"));
    QCOMPARE(bytes.count("/Type /Page\n"), 1);
}

void TestPlotExports::hiddenPlotsExportAllTokens() {
    MemoryPlot plot(feed_, view_, kTexts, nullptr);
    QString error;
    QVERIFY(plot.saveSvg(path("a.svg"), &error));
    QCOMPARE(plot.findChild<LinesChart*>()->lines()[0].line->dataCount(), 80);
    QCOMPARE(plot.findChild<LinesChart*>()->xAxis->range().upper, kPromptTokens + 79.0);
}

void TestPlotExports::heldViewIsKept() {
    MemoryPlot plot(feed_, view_, kTexts, nullptr);
    plot.show();
    QTest::keyClick(plot.findChild<LinesChart*>(), Qt::Key_Plus);
    QVERIFY(!plot.following());
    const QCPRange held = plot.findChild<LinesChart*>()->xAxis->range();
    QString error;
    QVERIFY(plot.savePng(path("held.png"), 1, &error));
    QVERIFY(plot.findChild<LinesChart*>()->xAxis->range() == held);
    QVERIFY(QImage(path("held.png")).text(QStringLiteral("Description")).contains(QStringLiteral("part of the data")));
}

void TestPlotExports::themeChangesRestyle() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    plot.resize(600, 300);
    plot.show();
    auto* chart = plot.findChild<LinesChart*>();
    for (const Theme::Kind kind : {Theme::Kind::dark, Theme::Kind::high_contrast, Theme::Kind::light}) {
        Theme::instance().apply(*qApp, kind, 1);
        QCOMPARE(chart->lines()[0].line->pen().color(), Theme::instance().lane(0, false).colour);
        QTest::qWait(20);
        QCOMPARE(plot.grab().toImage().pixelColor(3, 150), Theme::instance().colour(QStringLiteral("base")));
    }
    Theme::instance().apply(*qApp, Theme::Kind::light, 2);
    QCOMPARE(chart->axisRect()->margins().left(), 108);
}

void TestPlotExports::missingFolderIsRefused() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    const QString nowhere = path("no such folder/a.png");
    for (int format = 0; format < 3; ++format) {
        QString error;
        const bool ok = format == 0   ? plot.savePng(nowhere, 1, &error)
                        : format == 1 ? plot.saveSvg(nowhere, &error)
                                      : plot.savePdf(nowhere, &error);
        QVERIFY(!ok);
        QVERIFY2(
            error.startsWith(QStringLiteral("Cannot write in ")) && error.contains(QStringLiteral("no such folder")),
            qPrintable(error));
    }
}

void TestPlotExports::fullDiskLeavesOldFile() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    QFile old(path("old.svg"));
    QVERIFY(old.open(QIODevice::WriteOnly));
    old.write("the old file");
    old.close();
    // A limit on the size of files stands for a full disk: writing stops in the middle.
    rlimit before{};
    QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 4096;
    std::signal(SIGXFSZ, SIG_IGN);
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
    QString error;
    const bool ok = plot.saveSvg(path("old.svg"), &error);
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &before), 0);
    QVERIFY(!ok);
    QVERIFY2(error.startsWith(QStringLiteral("Cannot write in ")), qPrintable(error));
    QVERIFY(old.open(QIODevice::ReadOnly));
    QCOMPARE(old.readAll(), QByteArray("the old file"));
}

void TestPlotExports::captionsAndTablesSayWhatWasMeasured() {
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    QString error;
    QVERIFY(plot.savePng(path("a.png"), 1, &error));
    const QString caption = QImage(path("a.png")).text(QStringLiteral("Description"));
    for (const char* words : {"Kvasir ", "A quanto:4 (n 80, read K 90 %, V 80 %)", "C hadamard:2", "teacher-forced",
                              "80 tokens scored from 128", "text sha256 "})
        QVERIFY2(caption.contains(QLatin1String(words)), qPrintable(caption));
    QVERIFY(caption.contains(QStringLiteral("model sha256 ") + QString(64, QLatin1Char('a'))));
    ErrorByLayer layers(feed_, view_, kTexts, nullptr);
    MemoryPlot memory(feed_, view_, kTexts, nullptr);
    for (const PlotView* each :
         {static_cast<PlotView*>(&plot), static_cast<PlotView*>(&layers), static_cast<PlotView*>(&memory)}) {
        const QVector<QStringList> rows = parseCsv(each->csv());
        const auto value = [&](const char* column) {
            return rows.constLast().value(rows[0].indexOf(QLatin1String(column)));
        };
        QCOMPARE(value("n_scored"), QStringLiteral("80"));
        QCOMPARE(value("first_scored"), QStringLiteral("128"));
        QCOMPARE(value("mode"), QStringLiteral("teacher-forced"));
        QCOMPARE(value("read_k"), QStringLiteral("0.9"));
        QCOMPARE(value("model_sha256"), QString(64, QLatin1Char('a')));
        QCOMPARE(value("text_sha256").size(), 64);
        QVERIFY(value("program").startsWith(QStringLiteral("Kvasir ")));
        QVERIFY(value("spec").contains(QStringLiteral("residual")));
    }
}

void TestPlotExports::lanesWithoutFiguresSayWhy() {
    feed_.model.append(std::vector<LaneStop>{{1, 2, "lane B cannot hold 10 more tokens"}});
    emit feed_.recordsAppended();
    ErrorPerToken plot(feed_, view_, kTexts, nullptr);
    QString error;
    QVERIFY(plot.savePng(path("a.png"), 1, &error));
    const auto lines = plot.findChild<LinesChart*>()->lines();
    QVERIFY(std::none_of(lines.begin(), lines.end(), [](const auto& line) { return line.lane == 2; }));
    QVERIFY(QImage(path("a.png")).text(QStringLiteral("Description")).contains(QStringLiteral("cannot hold 10")));
    const QVector<QStringList> rows = parseCsv(plot.csv());
    QCOMPARE(rows.size(), 1 + 3 * 80 + 1);
    int n_rows = 0;
    for (const QStringList& row : rows) {
        if (row[0] != QLatin1String("B")) continue;
        ++n_rows;
        QCOMPARE(row[rows[0].indexOf(QStringLiteral("kl"))], QString());
        QVERIFY(row[rows[0].indexOf(QStringLiteral("why_no_figures"))].contains(QStringLiteral("cannot hold 10")));
    }
    QCOMPARE(n_rows, 1);
    init();
}

void TestPlotExports::formulasStayText() {
    CsvWriter csv({"a"});
    for (const char* cell : {"=1+1", "+cmd", "-x", "@sum", "-1.5", "+2", "1e-30", "-inf", "nan"})
        csv.row({cell});
    QCOMPARE(csv.bytes(), QByteArray("a\r\n'=1+1\r\n'+cmd\r\n'-x\r\n'@sum\r\n-1.5\r\n'+2\r\n1e-30\r\n-inf\r\nnan\r\n"));
}

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotExports)
#include "tst_plot_exports.moc"
