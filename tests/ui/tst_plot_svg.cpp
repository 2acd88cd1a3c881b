// SPDX-License-Identifier: GPL-3.0-or-later
// Exported SVG, drawn by librsvg as a reader's program does, looks like the PNG of the same plot: clipped, with all of
// its caption.
#include <QImage>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>
#include <cstdlib>

#include "tst_plot_run.h"
#include "ui/plots/bars_chart.h"
#include "ui/plots/distributions.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/lines_chart.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/tokens_per_second.h"

namespace kvasir::ui {

namespace {

constexpr int kScale = 2;
constexpr int kReach = 3;       // px at kScale: letters of two rasterizers lie so far apart
constexpr int kUnlike = 96;     // of 255: antialiasing stays below
constexpr double kMost = 2e-4;  // share of the pixels

int distance(QRgb a, QRgb b) {
    return std::max({std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)), std::abs(qBlue(a) - qBlue(b))});
}

/// Pixels of `a` that have nothing like them near the same place of `b`.
int unlike(const QImage& a, const QImage& b, QImage* where) {
    int n = 0;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x) {
            bool found = distance(a.pixel(x, y), b.pixel(std::min(x, b.width() - 1), std::min(y, b.height() - 1))) <
                         kUnlike;  // nearly always: the rest of the search is slow
            for (int dy = -kReach; dy <= kReach && !found; ++dy)
                for (int dx = -kReach; dx <= kReach && !found; ++dx) {
                    const int i = std::clamp(x + dx, 0, b.width() - 1), j = std::clamp(y + dy, 0, b.height() - 1);
                    found = distance(a.pixel(x, y), b.pixel(i, j)) < kUnlike;
                }
            if (found) continue;
            ++n;
            where->setPixel(x, y, qRgb(255, 0, 0));
        }
    return n;
}

}  // namespace

class TestPlotSvg : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    HandFeed feed_;
    ViewState view_;
    QString converter_;
    bool expects_clips_ = false;  ///< what is drawn reaches beyond its axes

    /// As librsvg draws it.
    QImage draw(const QByteArray& svg) {
        const QString from = folder_.filePath(QStringLiteral("drawn.svg")),
                      to = folder_.filePath(QStringLiteral("drawn.png"));
        QFile file(from);
        if (!file.open(QIODevice::WriteOnly) || file.write(svg) != svg.size()) return {};
        file.close();
        QProcess process;
        process.start(converter_, {QStringLiteral("-z"), QString::number(kScale), QStringLiteral("-o"), to, from});
        if (!process.waitForFinished(60000) || process.exitCode() != 0)
            qWarning("%s", process.readAllStandardError().constData());
        return QImage(to).convertToFormat(QImage::Format_RGB32);
    }

    void compare(PlotView& plot, const char* name) {
        const QString png = folder_.filePath(QLatin1String(name) + QStringLiteral(".png")),
                      svg = folder_.filePath(QLatin1String(name) + QStringLiteral(".svg"));
        QString error;
        QVERIFY2(plot.savePng(png, kScale, &error), qPrintable(error));
        QVERIFY2(plot.saveSvg(svg, &error), qPrintable(error));
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray document = file.readAll();
        const QImage wanted = QImage(png).convertToFormat(QImage::Format_RGB32), got = draw(document);
        QCOMPARE(got.size(), wanted.size());
        // without its clips the picture is another one, and this comparison sees it
        QImage spoilt = wanted;
        QVERIFY(document.contains("clip-path="));
        if (expects_clips_)
            QVERIFY(unlike(draw(QByteArray(document).replace("clip-path=", "data-c=")), wanted, &spoilt) >
                    kMost * wanted.width() * wanted.height());
        QImage where = wanted;
        const int n = unlike(wanted, got, &where) + unlike(got, wanted, &where);
        const double share = double(n) / (wanted.width() * wanted.height());
        if (share > kMost) {
            const QString kept = QDir::temp().filePath(QStringLiteral("kvasir-") + QLatin1String(name));
            where.save(kept + QStringLiteral("-unlike.png"));
            got.save(kept + QStringLiteral("-svg.png"));
            wanted.save(kept + QStringLiteral("-png.png"));
            QFAIL(qPrintable(QStringLiteral("%1: %2 of 10 000 pixels differ, see %3-*.png")
                                 .arg(QLatin1String(name))
                                 .arg(share * 1e4, 0, 'f', 2)
                                 .arg(kept)));
        }
    }

 private slots:
    void initTestCase() {
        converter_ = QStandardPaths::findExecutable(QStringLiteral("rsvg-convert"));
        QVERIFY2(!converter_.isEmpty(), "rsvg-convert is missing: tools/install-packages installs librsvg2-bin");
        Theme::instance().apply(*qApp, Theme::Kind::light, 1);
        feed_.begin(emptyRun(200));
        feed_.append(handRecords(0, 200));
    }

    void linesOfAllTokens() {
        ErrorPerToken plot(feed_, view_, kHandTexts, nullptr);
        compare(plot, "errors");
    }

    void linesOfAPart() {  // most of the curves lie outside
        ErrorPerToken plot(feed_, view_, kHandTexts, nullptr);
        plot.show();
        auto* chart = plot.findChild<LinesChart*>();
        for (int i = 0; i < 4; ++i)
            QTest::keyClick(chart, Qt::Key_Plus);
        chart->yAxis->setRange(0.02, 0.5);
        QVERIFY(!plot.following());
        expects_clips_ = true;
        compare(plot, "errors-zoomed");
    }

    void init() { expects_clips_ = false; }

    void barsWithHatching() {
        MemoryPlot memory(feed_, view_, kHandTexts, nullptr);
        memory.showParts();
        compare(memory, "memory");
        TokensPerSecond speed(feed_, view_, kHandTexts, nullptr);
        speed.showParts();
        compare(speed, "speed");
    }

    void heatMap() {
        ErrorByLayer plot(feed_, view_, kHandTexts, nullptr);
        compare(plot, "layers");
    }

    void histograms() {
        Distributions plot(feed_, view_, kHandTexts, nullptr);
        plot.resize(500, 500);
        plot.show();
        QVERIFY(!feed_.requests.empty());
        emit feed_.distributionReady(std::make_shared<const DistributionFrame>(handFrame(feed_.requests.back(), true)));
        QVERIFY(!plot.isEmpty());
        compare(plot, "distributions");
        auto* chart = plot.findChild<HistogramChart*>();
        for (int i = 0; i < 3; ++i)
            QTest::keyClick(chart, Qt::Key_Plus);
        expects_clips_ = true;
        compare(plot, "distributions-zoomed");
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotSvg)
#include "tst_plot_svg.moc"
