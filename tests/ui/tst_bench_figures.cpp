// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of speed measurements: what is on them, and the files.
#include <QImage>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "support/bench_sample.h"
#include "ui/figures/bench_figures.h"
#include "ui/figures/figure_chart.h"
#include "ui/figures/figure_marks.h"
#include "ui/figures/figures.h"
#include "ui/plots/bars_chart.h"
#include "ui/plots/plot_export.h"

namespace kvasir::ui {

using nlohmann::json;

class TestBenchFigures : public QObject {
    Q_OBJECT
    static FigureData dataOf(const std::vector<json>& documents) {
        std::vector<BenchDocument> read;
        for (const json& j : documents)
            read.push_back(parse_bench_document(j.dump(), "sample").value());
        return FigureData(std::move(read));
    }
    static json full(const char* weights = "Q4_1") {
        return test::bench_sample(weights, {"fp16", "quanto:4", "kivi:2"}, {0, 256, 1024}, {2, 4, 8});
    }
    static const FigureChart& chartOf(const Figure& figure) { return dynamic_cast<const FigureChart&>(*figure.chart); }
    QString write(const char* name, const std::string& bytes) const {
        const QString path = folder_.filePath(QLatin1String(name));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), qint64(bytes.size())) < 0) return {};
        return path;
    }

    QTemporaryDir folder_;

 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }
    void rooflineHasPointsAndRoofs();
    void speedHasARoofPerLine();
    void weightsAreLinesOfTheirOwn();
    void theFastestOfRepeatsIsDrawn();
    void memoryStandsOnTheWeights();
    void timeSplitHasABarPerRow();
    void textNeverOverlaps();
    void filesAreWritten();
    void darkFiguresAreDark();
    void figuresWithoutRowsAreLeftOut();
    void badFilesAndFoldersAreRefused();
};

void TestBenchFigures::rooflineHasPointsAndRoofs() {
    const FigureData data = dataOf({full()});
    const Figure figure = rooflineFigure(data);
    const FigureChart& chart = chartOf(figure);
    QCOMPARE(chart.lines().size(), 9);  // three specs at three depths
    const FigureLine& fp16 = chart.lines()[0];
    QVERIFY(fp16.reference);
    QCOMPARE(fp16.points.size(), 4);  // 1, 2, 4 and 8 lanes
    QCOMPARE(fp16.points[0].x, 2e8 / (104857600.0 + 11 * 22.5 * 1024));
    QCOMPARE(fp16.points[0].y, 2e8 * 50 / 1e9);
    QCOMPARE(fp16.points[3].words, QStringLiteral("×8"));
    QVERIFY(fp16.points[0].words.isEmpty());
    QVERIFY(chart.lines()[1].points[0].size > fp16.points[0].size);  // deeper, larger
    QCOMPARE(chart.lines()[1].name, QString());                      // named once
    for (const QCPAxis* axis : {chart.xAxis, chart.yAxis}) {
        QCOMPARE(axis->scaleType(), QCPAxis::stLogarithmic);
        QVERIFY(axis->range().lower > 0);
    }
    QCOMPARE(chart.limits().size(), 2);
    QCOMPARE(chart.limits()[0].points[1], QPointF(4, 40));  // 40 GFLOP/s over 10 GB/s
    QCOMPARE(chart.limits()[0].points[0].y(), chart.limits()[0].points[0].x() * 10);
    QVERIFY(chart.limits()[0].words.contains(QStringLiteral("10.0 GB/s")));
    QVERIFY(chart.limits()[1].words.contains(QStringLiteral("40.0 GFLOP/s")));
    for (const FigureLine& line : chart.lines())
        for (const FigurePoint& p : line.points)
            QVERIFY(chart.xAxis->range().contains(p.x) && chart.yAxis->range().contains(p.y));
}

void TestBenchFigures::speedHasARoofPerLine() {
    const Figure figure = speedByDepthFigure(dataOf({full()}));
    const FigureChart& chart = chartOf(figure);
    QCOMPARE(chart.lines().size(), 3);
    QCOMPARE(chart.limits().size(), 3);
    QCOMPARE(chart.lines()[1].name, QStringLiteral("quanto:4"));
    QCOMPARE(chart.lines()[1].points.size(), 3);
    QCOMPARE(chart.lines()[1].points[2].x, 1024.0);
    QCOMPARE(chart.lines()[1].points[2].y, 55 - 10.24);
    QCOMPARE(chart.lines()[1].points[2].low, (55 - 10.24) * 0.9);
    QCOMPARE(chart.limits()[1].points[2], QPointF(1024, 90 - 10.24));
    QCOMPARE(chart.yAxis->range().lower, 0.0);
    QVERIFY(chart.yAxis->range().upper >= 90);
}

void TestBenchFigures::weightsAreLinesOfTheirOwn() {
    const Figure figure = latencyByLanesFigure(dataOf({full("Q4_1"), full("F16")}));
    const FigureChart& chart = chartOf(figure);
    QCOMPARE(chart.lines().size(), 2);  // only fp16 at depth 0 has more lanes than one
    QCOMPARE(chart.lines()[0].name, QStringLiteral("fp16, Q4_1"));
    QCOMPARE(chart.lines()[1].name, QStringLiteral("fp16, F16"));
    QVERIFY(chart.look(chart.lines()[0]).hollow != chart.look(chart.lines()[1]).hollow);
    QCOMPARE(chart.lines()[0].points.size(), 4);
    QCOMPARE(chart.lines()[0].points[3].x, 8.0);
    QCOMPARE(chart.lines()[0].points[3].y, 160.0);  // ms
    QVERIFY(chart.lines()[0].points[3].low < 160 && chart.lines()[0].points[3].high > 160);
}

void TestBenchFigures::theFastestOfRepeatsIsDrawn() {
    json again = full();
    again["results"][3]["decode_tokens_per_second"]["median"] = 20.0;  // fp16 at 256: slower than 47.44
    again["results"][4]["decode_tokens_per_second"]["median"] = 80.0;  // quanto:4 at 256: faster than 52.44
    QVERIFY(!dataOf({full()}).provenance().contains(QStringLiteral("repeated")));
    const FigureData data = dataOf({full(), again});
    QVERIFY(data.provenance().contains(QStringLiteral("fastest of repeats")));
    const Figure figure = speedByDepthFigure(data);
    QCOMPARE(chartOf(figure).lines()[0].points.size(), 3);
    QCOMPARE(chartOf(figure).lines()[0].points[1].y, 50 - 2.56);
    QCOMPARE(chartOf(figure).lines()[1].points[1].y, 80.0);
}

void TestBenchFigures::memoryStandsOnTheWeights() {
    const FigureData data = dataOf({full()});
    const Figure figure = memoryByTokensFigure(data);
    const FigureChart& chart = chartOf(figure);
    QCOMPARE(chart.bases().size(), 1);
    QCOMPARE(chart.bases()[0].top, 100.0);
    QCOMPARE(chart.bases()[0].words, QStringLiteral("weights, Q4_1: 100.00 MiB"));
    QCOMPARE(chart.lines()[0].points[2].x, 1035.0);
    QVERIFY(std::abs(chart.lines()[0].points[2].y - (100 + 1035 * 22.5 / 1024)) < 1e-6);
    QCOMPARE(chart.yAxis->range().lower, 0.0);
}

void TestBenchFigures::timeSplitHasABarPerRow() {
    const Figure figure = timeSplitFigure(dataOf({full()}));
    const auto& chart = dynamic_cast<const BarsChart&>(*figure.chart);
    QCOMPARE(chart.rows().size(), 12);  // three headings, nine bars: rows of more lanes have no bar
    QCOMPARE(chart.rows()[0].name, QStringLiteral("0 tokens in the cache"));
    QVERIFY(chart.rows()[0].parts.empty());
    QCOMPARE(chart.rows()[1].name, QStringLiteral("fp16"));
    QVERIFY(chart.rows()[1].reference);
    QCOMPARE(chart.rows()[1].parts, (std::vector<double>{8, 1, 2, 0.5, 2, 0, 0.25}));
    QCOMPARE(figure.legend.size(), 7);
}

void TestBenchFigures::textNeverOverlaps() {
    const FigureData data = dataOf({full("Q4_1"), full("F16")});
    for (auto* make : {rooflineFigure, speedByDepthFigure, latencyByLanesFigure, memoryByTokensFigure}) {
        const Figure figure = make(data);
        const ExportPage page{figure.chart.get(), figure.title, figure.legend, data.provenance()};
        QVERIFY(!pngBytes(page, 1).isEmpty());
        const QVector<QRectF> text = figure.chart->findChild<FigureMarks*>()->textRects();
        QVERIFY(text.size() >= 2);
        for (qsizetype i = 0; i < text.size(); ++i)
            for (qsizetype j = 0; j < i; ++j)
                QVERIFY2(!text[i].adjusted(0, 0.5, 0, -0.5).intersects(text[j]), qPrintable(figure.id));
    }
}

void TestBenchFigures::filesAreWritten() {
    const QString out = folder_.filePath(QStringLiteral("new/figures"));
    const auto drawn = drawBenchFigures({write("bench.json", full().dump())}, out, Theme());
    QVERIFY2(drawn.ok(), drawn ? "" : drawn.error().message().c_str());
    QCOMPARE(drawn->files.size(), 10);
    QVERIFY(drawn->left_out.isEmpty());
    for (const char* id : {"roofline", "speed-by-depth", "latency-by-lanes", "memory-by-tokens", "time-split"}) {
        const QImage image(QDir(out).filePath(QLatin1String(id) + QStringLiteral(".png")));
        QCOMPARE(image.width(), 2 * 643);
        QCOMPARE(image.pixelColor(2, 2), QColor(Qt::white));
        QVERIFY(
            image.text(QStringLiteral("Description")).contains(QStringLiteral("Sample-1M · weights Q4_1 · 2 threads")));
        QFile file(QDir(out).filePath(QLatin1String(id) + QStringLiteral(".svg")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QXmlStreamReader xml(&file);
        QStringList words;
        while (!xml.atEnd())
            if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == QLatin1String("text"))
                words << xml.readElementText().trimmed();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY2(words.contains(QStringLiteral("R  fp16")), qPrintable(words.join(QLatin1Char('|'))));
        QVERIFY(words.join(QLatin1Char(' ')).contains(QStringLiteral("10.0 GB/s, 40.0 GFLOP/s")));  // provenance
    }
}

void TestBenchFigures::darkFiguresAreDark() {
    const Theme dark(Theme::Kind::dark);
    QVERIFY(drawBenchFigures({write("bench.json", full().dump())}, folder_.path(), dark).ok());
    const QImage image(folder_.filePath(QStringLiteral("roofline.png")));
    QCOMPARE(image.pixelColor(2, 2), dark.colour(QStringLiteral("base")));
    const QColor blue = dark.lane(0, false).colour;
    int n_blue = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            n_blue += image.pixelColor(x, y) == blue;
    QVERIFY(n_blue > 100);
}

void TestBenchFigures::figuresWithoutRowsAreLeftOut() {
    const json one = test::bench_sample("Q4_1", {"quanto:4"}, {0}, {});
    const QString out = folder_.filePath(QStringLiteral("one"));
    const auto drawn = drawBenchFigures({write("one.json", one.dump())}, out, Theme());
    QVERIFY(drawn.ok());
    QCOMPARE(QDir(out).entryList(QDir::Files, QDir::Name),
             (QStringList{QStringLiteral("roofline.png"), QStringLiteral("roofline.svg"),
                          QStringLiteral("time-split.png"), QStringLiteral("time-split.svg")}));
    QCOMPARE(drawn->left_out.size(), 3);
    QVERIFY(drawn->left_out[0].startsWith(QStringLiteral("speed-by-depth: needs")));
}

void TestBenchFigures::badFilesAndFoldersAreRefused() {
    const QString good = write("bench.json", full().dump()), bad = write("bad.json", "{");
    const auto refused = drawBenchFigures({good, bad}, folder_.filePath(QStringLiteral("none")), Theme());
    QCOMPARE(refused.error().code, ErrorCode::input);
    QVERIFY(refused.error().message().find("bad.json") != std::string::npos);
    QVERIFY(!QDir(folder_.filePath(QStringLiteral("none"))).exists());  // nothing is written by halves
    const auto not_written = drawBenchFigures({good}, bad + QStringLiteral("/figures"), Theme());  // below a file
    QVERIFY(!not_written.ok());
    QCOMPARE(not_written.error().code, ErrorCode::disk);
    QCOMPARE(drawBenchFigures({}, folder_.path(), Theme()).error().code, ErrorCode::usage);
}

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestBenchFigures)
#include "tst_bench_figures.moc"
