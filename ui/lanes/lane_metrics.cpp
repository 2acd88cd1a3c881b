// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/lane_metrics.h"

#include <QCoreApplication>

#include "ui/shell/figure_words.h"
#include "ui/shell/format.h"

namespace kvasir::ui {

namespace {

const QString kNone(QChar(0x2013));

struct LaneMetrics {
    Q_DECLARE_TR_FUNCTIONS(LaneMetrics)
};

QString tr(const char* text) {
    return LaneMetrics::tr(text);
}

bool insideFloor(const LaneHeaderContent& c) {
    return !c.reference && c.figures && c.figures->kl.state == Figure::State::inside_floor;
}

QString countOf(const LaneHeaderContent& c) {
    if (!c.figures) return kNone;
    const Figure& of = c.reference ? c.figures->ppl : c.figures->kl;
    return of.n > 0 ? countText(of.n) : kNone;
}

/// How many tokens the errors are taken over; those that had read nothing quantized yet beside it where they are many
/// enough to move the mean.
LaneMetric countMetric(const LaneHeaderContent& c) {
    LaneMetric metric{tr("n"), countOf(c), QStringLiteral("888")};
    if (c.reference || !c.figures) return metric;
    const Figure& kl = c.figures->kl;
    if (kl.is_number() && 10 * kl.n_unread >= kl.n) metric.beside = tr("· %1 unread").arg(countText(kl.n_unread));
    return metric;
}

LaneMetric klMetric(const LaneHeaderContent& c) {
    const Figure kl = c.figures ? c.figures->kl : Figure();
    const QString widest = QStringLiteral("8.8e-04"), floor = c.noise_floor > 0 ? errorText(c.noise_floor) : kNone;
    if (c.reference && c.measures_floor) return {tr("noise floor"), floor, widest};  // its own KL is 0
    const bool nothing_yet = kl.state == Figure::State::none;
    if (!c.measures_floor || !(kl.is_number() || nothing_yet))
        return {tr("mean KL"), figureText(kl, errorText), widest, kl.grey() && !nothing_yet};
    return {tr("mean KL / floor"), figureText(kl, errorText), widest + QStringLiteral(" / 8.8e-07"), insideFloor(c),
            QStringLiteral("/ ") + floor};
}

}  // namespace

QVector<LaneMetric> laneMetrics(const LaneHeaderContent& c) {
    const LaneSummary s = c.figures ? c.figures->summary : LaneSummary();
    const bool some = s.n_scored > 0;
    QString bits = fixedText(c.nominal_bits, 1);
    if (some && !c.exact && s.effective_bits > 0) bits += QStringLiteral(" → ") + fixedText(s.effective_bits, 2);
    const auto ranked = [](LaneMetric metric, int rank) {
        metric.rank = rank;
        return metric;
    };
    QVector<LaneMetric> list;
    list << ranked({tr("bits / value"), bits, c.exact ? QStringLiteral("16.0") : QStringLiteral("4.5 → 6.79")}, 2);
    list << ranked({tr("MiB"), some ? mibText(s.bytes.total()) : kNone, QStringLiteral("88.88")}, 3);
    list << ranked({tr("tokens / s"), some && s.tokens_per_second > 0 ? fixedText(s.tokens_per_second, 1) : kNone,
                    QStringLiteral("888.8")},
                   5);
    list << ranked(klMetric(c), c.reference ? 2 : 0);  // n stays beside a mean as long as any other figure can go
    if (c.reference) {
        list << ranked(
            {tr("perplexity"), c.figures ? figureText(c.figures->ppl, [](double v) { return fixedText(v, 2); }) : kNone,
             QStringLiteral("888.88")},
            0);
        list << ranked({tr("n"), countOf(c), QStringLiteral("888")}, 1);
        return list;
    }
    list << ranked(countMetric(c), 1);
    const Figure top1 = c.figures ? c.figures->top1 : Figure();
    list << ranked({tr("same top-1"), figureText(top1, percentText), QStringLiteral("100.0 %"),
                    !top1.is_number() && top1.state != Figure::State::none},
                   4);
    return list;
}

LaneMetric shortMetric(const LaneHeaderContent& c) {
    if (c.reference)
        return {tr("perplexity"),
                c.figures ? figureText(c.figures->ppl, [](double v) { return fixedText(v, 2); }) : kNone,
                {},
                false,
                tr("n %1").arg(countOf(c))};
    const Figure kl = c.figures ? c.figures->kl : Figure();
    return {tr("KL"), figureText(kl, errorText), {}, kl.grey(), tr("n %1").arg(countOf(c))};
}

QString metricsInWords(const LaneHeaderContent& c) {
    if (!c.trouble.isEmpty()) return c.trouble;
    QStringList words;
    for (const LaneMetric& m : laneMetrics(c))
        words << m.key + QLatin1Char(' ') + m.text();
    if (insideFloor(c))
        words << tr("mean KL %1 is inside the noise floor of %2 nats: the reference moves as much when its sums are "
                    "taken in another order")
                     .arg(errorText(c.figures->kl.value), errorText(c.noise_floor));
    return words.join(QStringLiteral(", "));
}

QString headerToolTip(const LaneHeaderContent& c) {
    QString tip = c.name == c.spec ? c.name : c.name + QLatin1Char('\n') + c.spec;
    if (!c.trouble.isEmpty()) return tip + QLatin1Char('\n') + c.trouble;
    if (c.figures)
        for (const LaneMetric& m : laneMetrics(c))
            tip += QStringLiteral("\n%1: %2").arg(m.key, m.text());
    if (c.figures && c.figures->kl.is_number() && c.figures->kl.n_unread > 0)
        tip += QLatin1Char('\n') + tr("%1 of the n tokens came before anything was read from quantized storage (0 % "
                                      "read): their error is 0, whatever the scheme")
                                       .arg(countText(c.figures->kl.n_unread));
    if (insideFloor(c))
        tip += QLatin1Char('\n') + tr("inside the noise floor of %1 nats").arg(errorText(c.noise_floor));
    else if (c.measures_floor)
        tip += QLatin1Char('\n') + noiseFloorSentence() + QLatin1Char(' ') +
               tr("Here it is the mean over the run, as the mean KL.");
    return tip;
}

}  // namespace kvasir::ui
