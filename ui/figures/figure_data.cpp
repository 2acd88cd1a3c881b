// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/figures/figure_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ui/shell/format.h"

namespace kvasir::ui {

namespace {

const QString kReference = QStringLiteral("fp16");

QString threadsText(int n) {
    return n == 1 ? QStringLiteral("1 thread") : QStringLiteral("%1 threads").arg(n);
}

/// "11.9" or "11.9–12.3".
QString rangeText(double low, double high) {
    const QString a = fixedText(low, 1), b = fixedText(high, 1);
    return a == b ? a : a + QChar(0x2013) + b;
}

}  // namespace

LaneLook lookOf(const Theme& theme, int index, bool reference, int condition) {
    LaneLook look = theme.lane(index, reference);
    // Few measured points: the reference needs a marker here too, or nobody sees where it was measured.
    if (reference) look.marker = LaneMarker::triangle_down;
    if (condition % 2) {
        look.hollow = !look.hollow;
        look.pen = look.hollow ? 1.5 : 2;  // a hollow marker of a thick pen is a blot
    }
    return look;
}

FigureData::FigureData(std::vector<BenchDocument> documents) : documents_(std::move(documents)) {
    std::set<std::tuple<std::string, int, int, int>> seen;
    for (const BenchDocument& d : documents_) {
        const QStringList parts{modelTitle(d.model_file, d.file_weights), QString::fromStdString(d.weights),
                                threadsText(d.threads), QString::fromStdString(d.kernels)};
        const auto same = std::find_if(conditions_.begin(), conditions_.end(),
                                       [&](const Condition& condition) { return condition.parts == parts; });
        condition_of_.push_back(int(same - conditions_.begin()));
        if (same == conditions_.end()) conditions_.push_back({parts, {}});
        for (const BenchMeasurement& row : d.rows) {
            repeated_ = !seen.insert({row.spec, row.depth, row.lanes, condition_of_.back()}).second || repeated_;
            if (const QString spec = QString::fromStdString(row.spec); !specs_.contains(spec)) specs_ << spec;
        }
    }
    for (qsizetype part = 0; part < conditions_.front().parts.size(); ++part) {
        const bool differs = std::any_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
            return condition.parts[part] != conditions_.front().parts[part];
        });
        if (!differs) continue;
        for (Condition& condition : conditions_)
            condition.text += (condition.text.isEmpty() ? QString() : QStringLiteral(", ")) + condition.parts[part];
    }
}

template <class Take>
std::vector<MeasuredLine> FigureData::collect(bool apart_by_depth, Take take) const {
    std::map<std::tuple<qsizetype, int, int>, MeasuredLine> lines;
    for (size_t d = 0; d < documents_.size(); ++d)
        for (const BenchMeasurement& row : documents_[d].rows) {
            if (!take(row)) continue;
            const QString spec = QString::fromStdString(row.spec);
            const qsizetype place = specs_.indexOf(spec), reference = specs_.indexOf(kReference);
            const int condition = condition_of_[d], depth = apart_by_depth ? row.depth : -1;
            MeasuredLine& line = lines[{place, condition, depth}];
            line.reference = place == reference;
            line.index = int(place - (reference >= 0 && place > reference ? 1 : 0));
            line.condition = condition;
            line.depth = depth;
            line.name = spec;
            if (const QString words = conditionText(condition); !words.isEmpty())
                line.name += QStringLiteral(", ") + words;
            const auto again = std::find_if(line.rows.begin(), line.rows.end(), [&](const BenchMeasurement& other) {
                return other.depth == row.depth && other.lanes == row.lanes;
            });
            if (again == line.rows.end())
                line.rows.push_back(row);
            else if (row.median > again->median)
                *again = row;
        }
    std::vector<MeasuredLine> result;
    for (auto& entry : lines)
        result.push_back(std::move(entry.second));
    return result;
}

std::vector<MeasuredLine> FigureData::lines(bool apart_by_depth) const {
    return collect(apart_by_depth, [](const BenchMeasurement&) { return true; });
}

std::vector<MeasuredLine> FigureData::singleLaneLines() const {
    return collect(false, [](const BenchMeasurement& row) { return row.lanes == 1; });
}

std::vector<int> FigureData::depths() const {
    std::set<int> depths;
    for (const BenchDocument& d : documents_)
        for (const BenchMeasurement& row : d.rows)
            depths.insert(row.depth);
    return {depths.begin(), depths.end()};
}

std::vector<MachineLimit> FigureData::limits() const {
    std::vector<MachineLimit> limits(conditions_.size());
    for (size_t i = 0; i < limits.size(); ++i) {
        // A model or its weights change nothing about the machine.
        const QStringList& parts = conditions_[i].parts;
        const bool other_machine = std::any_of(conditions_.begin(), conditions_.end(),
                                               [&](const Condition& c) { return c.parts.mid(2) != parts.mid(2); });
        if (other_machine) limits[i].condition = parts[2];
    }
    for (size_t d = 0; d < documents_.size(); ++d) {
        const QStringList machine = conditions_[size_t(condition_of_[d])].parts.mid(2);
        const auto first = std::find_if(conditions_.begin(), conditions_.end(),
                                        [&](const Condition& c) { return c.parts.mid(2) == machine; });
        MachineLimit& limit = limits[size_t(first - conditions_.begin())];
        limit.bandwidth_gbps = std::max(limit.bandwidth_gbps, documents_[d].bandwidth_gbps);
        limit.fma_gflops = std::max(limit.fma_gflops, documents_[d].fma_gflops);
    }
    limits.erase(std::remove_if(limits.begin(), limits.end(),
                                [](const MachineLimit& limit) { return limit.bandwidth_gbps == 0; }),
                 limits.end());
    return limits;
}

QString FigureData::provenance() const {
    QStringList line;
    for (const QString& prefix : {QString(), QStringLiteral("weights "), QString(), QString()}) {
        QStringList values;
        const qsizetype part = line.size();
        for (const Condition& condition : conditions_)
            if (!values.contains(condition.parts[part])) values << condition.parts[part];
        line << prefix + values.join(QStringLiteral(" and "));
    }
    if (repeated_) line << QStringLiteral("fastest of repeats");
    double read[] = {1e300, 0}, fma[] = {1e300, 0};
    QStringList programs;
    for (const BenchDocument& d : documents_) {
        read[0] = std::min(read[0], d.bandwidth_gbps), read[1] = std::max(read[1], d.bandwidth_gbps);
        fma[0] = std::min(fma[0], d.fma_gflops), fma[1] = std::max(fma[1], d.fma_gflops);
        QStringList words{QStringLiteral("Kvasir ") + QString::fromStdString(d.version)};
        for (const std::string& word : {d.commit, d.date})
            if (!word.empty()) words << QString::fromStdString(word);
        if (const QString program = words.join(QLatin1Char(' ')); !programs.contains(program)) programs << program;
    }
    line << QStringLiteral("measured %1 GB/s, %2 GFLOP/s").arg(rangeText(read[0], read[1]), rangeText(fma[0], fma[1]))
         << programs;
    return line.join(QStringLiteral(" · "));
}

}  // namespace kvasir::ui
