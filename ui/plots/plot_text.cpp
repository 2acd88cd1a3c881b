// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_text.h"

#include <QFileInfo>
#include <QLocale>
#include <charconv>
#include <cmath>

#include "core/session/fair_comparison.h"
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
    if (std::isnan(value)) return "";
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
        const QByteArray& cell = cells[i];
        if (cell.contains(',') || cell.contains('"') || cell.contains('\n') || cell.contains('\r'))
            bytes_ += '"' + QByteArray(cell).replace("\"", "\"\"") + '"';
        else
            bytes_ += cell;
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
    parts << QStringLiteral("%1 tokens scored from %2").arg(countText(qint64(records.size())), countText(first));
    parts << (e.mode == Mode::teacher_forced ? QStringLiteral("teacher-forced") : QStringLiteral("free-running"));
    QString kernels = e.kernels == KernelPath::fused ? QStringLiteral("fused") : QStringLiteral("reference kernels");
    if (!info.simd.empty()) kernels += QLatin1Char(' ') + QString::fromStdString(info.simd);
    if (info.n_threads > 0) kernels += QStringLiteral(", %1 threads").arg(info.n_threads);
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
    if (equal_terms(compared)) return {};
    return QStringLiteral("Not an equal comparison: residual %1 tokens").arg(residuals.join(QStringLiteral(" · ")));
}

}  // namespace kvasir::ui
