// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_text.h"

#include <QFileInfo>
#include <QLocale>
#include <charconv>
#include <cmath>

#include "core/report/csv.h"
#include "core/report/run_conditions.h"
#include "core/session/fair_comparison.h"
#include "core/session/lane_figures.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

namespace {

const QChar kMinus(0x2212), kThinSpace(0x2009), kDash(0x2013);

QString trueMinus(QString text) {
    if (text.startsWith(QLatin1Char('-'))) text[0] = kMinus;
    return text;
}

template <class T>
QByteArray shortest(T value) {
    if (std::isnan(value)) return "nan";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return QByteArray(buffer, int(end - buffer));
}

/// The first words of a text, for a line that must stay short.
QString firstWords(const QString& text) {
    const QString plain = text.simplified();
    if (plain.size() <= 28) return plain;
    const qsizetype cut = plain.lastIndexOf(QLatin1Char(' '), 26);
    return plain.left(cut > 8 ? cut : 26) + QStringLiteral(" …");
}

QString samplingWords(const Sampling& s) {
    if (s.temperature <= 0) return QStringLiteral("greedy");
    QString words = QStringLiteral("temperature %1").arg(double(s.temperature));
    if (s.top_k > 0) words += QStringLiteral(", top-k %1").arg(s.top_k);
    if (s.top_p < 1) words += QStringLiteral(", top-p %1").arg(double(s.top_p));
    return words + QStringLiteral(", seed %1").arg(s.seed);
}

}  // namespace

QString fixedText(double value, int decimals) {
    if (std::isnan(value)) return kDash;
    return trueMinus(QString::number(value, 'f', decimals));
}

QString errorText(double nats) {
    const double size = std::abs(nats);
    if (std::isnan(nats)) return kDash;
    if (nats == 0) return QStringLiteral("0");
    if (size >= 1) return fixedText(nats, 2);
    if (size >= 0.001) return fixedText(nats, 3);
    return trueMinus(QString::number(nats, 'e', 1));
}

QString countText(qint64 value) {
    QString digits = QString::number(std::abs(value));
    for (qsizetype i = digits.size() - 3; i > 0; i -= 3)
        digits.insert(i, kThinSpace);
    return value < 0 ? kMinus + digits : digits;
}

QString axisText(double value) {
    if (std::abs(value) >= 1000 && std::abs(value) < 1e7 && value == std::floor(value)) return countText(qint64(value));
    return trueMinus(QString::number(std::abs(value) < 1e-12 ? 0.0 : value, 'g', 6));
}

QByteArray exactText(float value) {
    return shortest(value);
}
QByteArray exactText(double value) {
    return shortest(value);
}

void CsvWriter::row(const QVector<QByteArray>& cells) {
    for (qsizetype i = 0; i < cells.size(); ++i) {
        if (i) bytes_ += ',';
        double number = 0;
        const QByteArray& cell = cells[i];
        const auto [end, error] = std::from_chars(cell.begin(), cell.end(), number);
        const bool is_number = error != std::errc::invalid_argument && end == cell.end();
        bytes_ += is_number ? cell : QByteArray::fromStdString(csv_text({cell.constData(), size_t(cell.size())}));
    }
    bytes_ += "\r\n";
}

QVector<QStringList> parseCsv(const QByteArray& csv) {
    QVector<QStringList> rows;
    QStringList row;
    QByteArray cell;
    bool quoted = false;
    const auto endCell = [&] {
        row << QString::fromUtf8(cell);
        cell.clear();
    };
    for (qsizetype i = 0; i < csv.size(); ++i) {
        const char c = csv[i];
        if (quoted) {
            if (c != '"') {
                cell += c;
            } else if (i + 1 < csv.size() && csv[i + 1] == '"') {
                cell += c, ++i;
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            endCell();
        } else if (c == '\n') {
            endCell();
            rows << row;
            row.clear();
        } else if (c != '\r') {
            cell += c;
        }
    }
    return rows;
}

QString laneName(const RunModel& run, int lane) {
    return QString::fromStdString(run.info().lanes[size_t(lane)].title);
}

QString laneShortName(const CacheSpec& spec) {
    const QString preset = QString::fromStdString(spec.text).section(QLatin1Char(','), 0, 0).trimmed();
    if (preset.contains(QLatin1Char('='))) return QStringLiteral("K%1 V%2").arg(spec.k.bits).arg(spec.v.bits);
    const QString name = preset.section(QLatin1Char(':'), 0, 0), bits = preset.section(QLatin1Char(':'), 1, 1);
    if (bits.isEmpty()) return preset.left(6);
    if (name == QLatin1String("quanto")) return QStringLiteral("int") + bits;
    if (name.size() <= 4) return name.toUpper() + QLatin1Char('-') + bits;
    return name.left(1).toUpper() + name.mid(1, 2) + QLatin1Char('-') + bits;
}

QByteArray laneLetter(const RunModel& run, int lane) {
    return Theme::instance().laneOf(run.info().experiment, lane).letter.toUtf8();
}

QByteArray laneSpec(const RunModel& run, int lane) {
    return QByteArray::fromStdString(run.info().lanes[size_t(lane)].active);
}

bool showsError(const RunModel& run, int lane, const StepRecord& record) {
    return record.comparable && !run.nothing_read(lane, record);
}

QString comparedWords(const RunModel& run, int lane) {
    const LaneConditions c = lane_conditions(run, lane);
    const QString words = QStringLiteral("n %1").arg(c.n_compared);
    return c.n_unread == 0 ? words : words + QStringLiteral(", %1 of them unread").arg(c.n_unread);
}

QString captionNotes(const RunModel& run, const std::function<QString(int)>& counts) {
    if (run.empty()) return {};
    QStringList lanes;
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        if (!run.info().experiment.lanes[size_t(lane)].enabled) continue;
        const auto& info = run.info().lanes[size_t(lane)];
        const LaneConditions c = lane_conditions(run, lane);
        QString text = QString::fromLatin1(laneLetter(run, lane)) + QLatin1Char(' ') +
                       QString::fromStdString(info.why.empty() ? info.requested : info.active);
        if (!c.failure.empty()) text += QStringLiteral(": no figures, %1").arg(QString::fromStdString(c.failure));
        QStringList terms;
        if (c.failure.empty()) {
            terms << (counts ? counts(lane) : comparedWords(run, lane));
            if (c.coverage_known)
                terms << QStringLiteral("read K %1 %, V %2 %")
                             .arg(fixedText(c.coverage_k * 100, 0), fixedText(c.coverage_v * 100, 0));
            terms.removeAll(QString());
        }
        if (!terms.isEmpty()) text += QStringLiteral(" (%1)").arg(terms.join(QStringLiteral(", ")));
        lanes << text;
    }
    const RunConditions c = run_conditions(run);
    QStringList parts{lanes.join(QStringLiteral("; ")), QString::fromStdString(c.program)};
    if (!c.model_sha256.empty()) parts << QStringLiteral("model sha256 %1").arg(QString::fromStdString(c.model_sha256));
    parts << QStringLiteral("text sha256 %1").arg(QString::fromStdString(c.text_sha256));
    return parts.join(QStringLiteral(" · "));
}

QString provenance(const RunModel& run) {
    if (run.empty()) return {};
    const RunInfo& info = run.info();
    const Experiment& e = info.experiment;
    QStringList parts;
    parts << (info.model_name.empty() ? QFileInfo(QString::fromStdString(e.model_path)).completeBaseName()
                                      : QString::fromStdString(info.model_name + ' ' + info.model_weights).trimmed());
    parts << QStringLiteral("“%1”").arg(firstWords(QString::fromStdString(e.prompt)));
    const std::vector<StepRecord>& records = run.lane(e.reference);
    const qint64 first = records.empty() ? qint64(info.prompt_ids.size()) : records.front().position;
    const QString compared = QString::fromStdString(tokens_by_lane(run));
    if (compared.contains(QLatin1Char(':')))  // not the same in every lane
        parts << QStringLiteral("%1, scored from %2").arg(compared, countText(first));
    else
        parts << QStringLiteral("%1 tokens scored from %2").arg(countText(qint64(records.size())), countText(first));
    parts << (e.mode == Mode::teacher_forced ? QStringLiteral("teacher-forced") : QStringLiteral("free-running"));
    const RunConditions c = run_conditions(run);
    if (c.sampled) parts << samplingWords(c.sampling);
    QString kernels = e.kernels == KernelPath::fused ? QStringLiteral("fused") : QStringLiteral("reference kernels");
    if (!c.simd.empty()) kernels += QLatin1Char(' ') + QString::fromStdString(c.simd);
    if (c.n_threads > 0) kernels += QStringLiteral(", %1 threads").arg(c.n_threads);
    parts << kernels;
    bool any_packed = false;
    for (const auto& lane : info.lanes)
        any_packed = any_packed || (!lane.exact && !lane.failed);
    if (any_packed) parts << QStringLiteral("packed");
    parts << QStringLiteral("reference %1").arg(laneName(run, e.reference));
    if (!info.note.empty()) parts << QString::fromStdString(info.note);
    return parts.join(QStringLiteral(" · "));
}

QString unequalNote(const RunModel& run) {
    const QString terms = unequalTerms(run);
    return terms.isEmpty() ? QString() : QStringLiteral("Not an equal comparison: ") + terms;
}

QString unequalTerms(const RunModel& run) {
    if (run.empty()) return {};
    QStringList residuals;
    std::vector<const CacheSpec*> compared;
    for (size_t i = 0; i < run.info().experiment.lanes.size(); ++i) {
        const LaneSetup& lane = run.info().experiment.lanes[i];
        if (!lane.enabled || lane.spec.exact() || run.info().lanes[i].failed) continue;
        const CacheSpec& spec = lane.spec;
        compared.push_back(&spec);
        residuals << (spec.residual_k == spec.residual_v
                          ? QString::number(spec.residual_k)
                          : QStringLiteral("%1/%2").arg(spec.residual_k).arg(spec.residual_v));
    }
    QStringList words;
    for (const Term term : differing_terms(compared))
        words << (term == Term::residual
                      ? QStringLiteral("residual %1 tokens").arg(residuals.join(QStringLiteral(" · ")))
                      : QString::fromUtf8(term_words(term)));
    return words.join(QStringLiteral("; "));
}

}  // namespace kvasir::ui
