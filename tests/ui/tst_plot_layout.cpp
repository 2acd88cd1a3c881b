// SPDX-License-Identifier: GPL-3.0-or-later
// Plots at every size and type size: no plot area under 60 px, no label over another, every lane named and read out.
#include <QLocale>
#include <QScrollBar>
#include <QtTest>

#include "support/recorded_text.h"
#include "tst_plot_run.h"
#include "ui/plots/bars_chart.h"
#include "ui/plots/distributions.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/lines_chart.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/plot_pace.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/tokens_per_second.h"

namespace kvasir::ui {

namespace {

const QVector<double> kTypeSizes{0.85, 1, 1.1, 1.5};
const QVector<QSize> kSizes{{376, 140}, {376, 225}, {300, 180}, {640, 320}, {250, 600}};

QString at(QSize size, double scale) {
    return QStringLiteral("%1 x %2 at %3 %").arg(size.width()).arg(size.height()).arg(scale * 100);
}

/// Boxes of the tick labels that an axis draws.
QVector<QRectF> tickLabels(const QCPAxis& axis) {
    const bool across = QCPAxis::orientation(axis.axisType()) == Qt::Horizontal;
    const QFontMetricsF metrics(axis.tickLabelFont());
    QVector<QRectF> boxes;
    for (qsizetype i = 0; i < axis.tickVector().size(); ++i) {
        if (!axis.range().contains(axis.tickVector()[i])) continue;
        const double place = axis.coordToPixel(axis.tickVector()[i]);
        const double width = metrics.horizontalAdvance(axis.tickVectorLabels()[i]), height = metrics.ascent();
        boxes << (across ? QRectF(place - width / 2, 0, width, height) : QRectF(0, place - height / 2, width, height));
    }
    return boxes;
}

bool overlap(const QVector<QRectF>& boxes) {
    for (qsizetype i = 0; i < boxes.size(); ++i)
        for (qsizetype j = 0; j < i; ++j)
            if (boxes[i].adjusted(0.5, 0.5, -0.5, -0.5).intersects(boxes[j])) return true;
    return false;
}

template <class Plot>
std::unique_ptr<PlotView> make(HandFeed& feed, ViewState& view) {
    return std::make_unique<Plot>(feed, view, kHandTexts, nullptr);
}

}  // namespace

class TestPlotLayout : public QObject {
    Q_OBJECT

    HandFeed feed_;
    ViewState view_;

 private slots:
    void init() {
        Theme::instance().apply(*qApp, Theme::Kind::light, 1);
        feed_.begin(emptyRun(60, Mode::teacher_forced, kEightLanes));
        feed_.append(handRecords(0, 60, int(kEightLanes.size())));
    }

    void everyPlotFitsEverySize() {
        for (const double scale : kTypeSizes) {
            Theme::instance().apply(*qApp, Theme::Kind::light, scale);
            for (const auto& makePlot : {make<ErrorPerToken>, make<MemoryPlot>, make<TokensPerSecond>,
                                         make<ErrorByLayer>, make<Distributions>}) {
                const auto plot = makePlot(feed_, view_);
                plot->show();
                if (qobject_cast<Distributions*>(plot.get()))
                    emit feed_.distributionReady(
                        std::make_shared<const DistributionFrame>(handFrame(feed_.requests.back(), true)));
                for (const QSize size : kSizes) {
                    plot->resize(size);
                    for (Chart* chart : plot->findChildren<Chart*>()) {
                        if (!chart->isVisible()) continue;
                        QTest::qWait(20);
                        QTRY_VERIFY(chart->height() >= chart->minimumHeight());
                        chart->replot();
                        const QString where =
                            QLatin1String(plot->metaObject()->className()) + QLatin1Char(' ') + at(size, scale);
                        const auto rects = chart->axisRects();
                        for (QCPAxisRect* rect : rects) {
                            QVERIFY2(rect->height() >= Chart::kLeastArea - 1,
                                     qPrintable(QStringLiteral("%1: area %2 high, chart %3 of at least %4, type %5")
                                                    .arg(where)
                                                    .arg(rect->height())
                                                    .arg(chart->height())
                                                    .arg(chart->minimumHeight())
                                                    .arg(Theme::instance().typeScale())));
                            for (const auto side : {QCPAxis::atLeft, QCPAxis::atBottom}) {
                                const QCPAxis* axis = rect->axis(side);
                                QVERIFY2(!overlap(tickLabels(*axis)), qPrintable(where));
                                const double length = QFontMetricsF(axis->labelFont()).horizontalAdvance(axis->label());
                                QVERIFY2(length <= (side == QCPAxis::atLeft ? chart->height() : chart->width()),
                                         qPrintable(where));
                            }
                        }
                        for (qsizetype i = 1; i < rects.size(); ++i)
                            QVERIFY2(!rects[i]->outerRect().intersects(rects[i - 1]->outerRect()), qPrintable(where));
                    }
                }
            }
        }
    }

    void everyPlotAsksForTheSameHeight() {  // else a tab would move the docks beside it
        const int height = make<ErrorPerToken>(feed_, view_)->minimumSizeHint().height();
        QCOMPARE(make<Distributions>(feed_, view_)->minimumSizeHint().height(), height);
        QCOMPARE(make<ErrorByLayer>(feed_, view_)->minimumSizeHint().height(), height);
    }

    void longFiguresLeaveTheAxisItsLabel() {
        for (const double scale : {0.8, 1.0, 1.5})
            for (const auto& [top, log] : {std::pair(9e9, false), std::pair(1234567.0, false), std::pair(0.5, true)}) {
                Theme::instance().apply(*qApp, Theme::Kind::light, scale);
                LinesChart chart;
                chart.resize(380, 220);
                chart.setQuantity(QStringLiteral("KL, nats"), log);
                chart.setLimits({0, 50}, {log ? 1e-12 : 0, top});
                chart.fit();
                chart.replot();
                std::vector<look::PrintedText> texts;
                look::TextDevice device(chart.size(), texts);
                QCPPainter painter(&device);
                painter.setMode(QCPPainter::pmVectorized);
                chart.toPainter(&painter, chart.width(), chart.height());
                QVERIFY(texts.size() > 4);
                for (const look::PrintedText& text : texts) {
                    QVERIFY2(QRectF(chart.rect()).contains(text.ink), qPrintable(text.text));
                    for (const look::PrintedText& other : texts)
                        QVERIFY2(&other == &text || !other.ink.intersects(text.ink), qPrintable(text.text));
                }
                // shorter figures later do not move the axis; another run or quantity does
                const int left = chart.axisRect()->left();
                chart.setLimits({0, 50}, {log ? 0.1 : 0, 1});
                chart.fit();
                chart.replot();
                QCOMPARE(chart.axisRect()->left(), left);
                chart.setQuantity(QStringLiteral("MiB"), false);
                chart.replot();
                QCOMPARE(chart.axisRect()->left(), Theme::instance().px(54));
            }
    }

    void captionsThatAreCutAreInTheTooltip() {
        HistogramChart chart;
        chart.resize(300, 130);
        const DistributionFrame frame = handFrame({}, true);
        chart.show(frame, 1, false);
        chart.QWidget::show();
        chart.replot();
        for (int i = 0; i < 2; ++i) {
            const QPoint at(chart.axisRect(i)->rect().center().x(), chart.axisRect(i)->top() - 4);
            QHelpEvent question(QEvent::ToolTip, at, chart.mapToGlobal(at));
            QCoreApplication::sendEvent(&chart, &question);
            QVERIFY2(QToolTip::text().contains(i == 0 ? QStringLiteral("kurtosis") : QStringLiteral("SQNR")),
                     qPrintable(QToolTip::text()));
        }
    }

    void histogramsStandBesideEachOtherWhereLow() {
        HistogramChart chart;
        chart.resize(380, 130);
        QCOMPARE(chart.axisRect(0)->outerRect().top(), chart.axisRect(1)->outerRect().top());
        chart.resize(380, 400);
        chart.replot();
        QVERIFY(chart.axisRect(0)->bottom() < chart.axisRect(1)->top());
        QCOMPARE(chart.axisRect(0)->left(), chart.axisRect(1)->left());
    }

    void everyLaneHasItsLabelAndItsValue() {
        for (const double scale : kTypeSizes) {
            Theme::instance().apply(*qApp, Theme::Kind::light, scale);
            MemoryPlot plot(feed_, view_, kHandTexts, nullptr);
            plot.show();
            for (const QSize size : kSizes) {
                plot.resize(size);
                QTest::qWait(20);
                auto* chart = plot.findChild<LinesChart*>();
                chart->replot();
                const QVector<QRectF> labels = chart->labelRects();
                const QString where = at(size, scale);
                QCOMPARE(labels.size(), qsizetype(kEightLanes.size()));
                QVERIFY2(!overlap(labels), qPrintable(where));
                for (const QRectF& label : labels)
                    QVERIFY2(QRectF(chart->rect()).contains(label.adjusted(1, 1, -1, -1)), qPrintable(where));
                auto* line = plot.findChild<ReadoutLine*>();
                const Readout& readout = line->readout();
                int n_lanes = 0;
                for (const ReadoutPart& part : readout)
                    n_lanes += part.has_look;
                QCOMPARE(n_lanes, int(kEightLanes.size()));
                // all values are whole: the lines that they need are there
                QVERIFY2(line->nLines() >= readoutLines(readout, line->width(), Theme::instance()), qPrintable(where));
                QTRY_VERIFY(line->height() >= line->nLines() * readoutLineHeight(Theme::instance()));
            }
        }
    }

    void exponentsAreFiguresInEveryLanguage() {
        const QLocale before;
        QStringList labels[3];
        int i = 0;
        for (const char* language : {"C", "de_DE", "ko_KR"}) {
            QLocale::setDefault(QLocale(QLatin1String(language)));
            LinesChart chart;
            chart.setLocale(QLocale());  // as a chart has it that was made in this language
            chart.setQuantity(QStringLiteral("KL"), true);
            chart.setLimits({0, 10}, {1e-6, 1e3});
            chart.resize(400, 400);
            chart.fit();
            chart.replot();
            labels[i++] = QStringList(chart.yAxis->tickVectorLabels());
        }
        QLocale::setDefault(before);
        QVERIFY(labels[0].contains(QStringLiteral("1e-02")));  // what QCustomPlot sets as a power
        QCOMPARE(labels[1], labels[0]);
        QCOMPARE(labels[2], labels[0]);
    }

    /// Frames come every `interval` ms; plots that take what came at the pace of PlotPace wait so long at most.
    void plotsNeverWaitLongerThanHalfASecond() {
        for (const int interval : {33, 100, 150, 250, 333}) {
            PlotPace pace;
            pace.begin();
            qint64 last = -1, timer = -1, longest = 0;
            int n = 0;
            for (qint64 now = 0; now < 10000; ++now) {
                const auto show = [&] {
                    if (last >= 0) longest = std::max(longest, now - last);
                    last = now;
                    timer = -1;
                    pace.shown(now);
                    ++n;
                };
                if (timer == now) show();
                if (now % interval != 0) continue;
                const int wait = pace.wait(now, interval);
                if (now == 0) QCOMPARE(wait, 0);  // the first tokens are shown at once
                if (wait == 0)
                    show();
                else if (timer < 0)
                    timer = now + wait;
            }
            QVERIFY2(longest < 500, qPrintable(QString::number(longest)));
            QVERIFY2(n >= 20 && n <= 10000 / (3 * 33), qPrintable(QString::number(n)));  // and draw no more than needed
        }
    }
};

}  // namespace kvasir::ui

QTEST_MAIN(kvasir::ui::TestPlotLayout)
#include "tst_plot_layout.moc"
