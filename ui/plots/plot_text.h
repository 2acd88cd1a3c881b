// SPDX-License-Identifier: GPL-3.0-or-later
// Words and figures of the plots: numbers as people read them, numbers as files hold them, names of lanes, provenance.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QVector>
#include <functional>

#include "core/session/run_model.h"

namespace kvasir::ui {

// For people: true minus, thin space in thousands; "–" for a NaN.
QString errorText(double nats);  ///< 1.98, 0.017, 4.4e-04
QString fixedText(double value, int decimals);
QString countText(qint64 value);  ///< 8 192
QString axisText(double value);   ///< shortest figure of a tick

// For files: shortest text that reads back as the same number, `.` decimals whatever the locale.
QByteArray exactText(float value);
QByteArray exactText(double value);

/// Builds a table after RFC 4180: CRLF, quotes only where needed, a header line first. A cell that is no number and
/// begins like a formula is kept from being one.
class CsvWriter {
 public:
    explicit CsvWriter(const QVector<QByteArray>& header) { row(header); }
    void row(const QVector<QByteArray>& cells);
    const QByteArray& bytes() const { return bytes_; }

 private:
    QByteArray bytes_;
};

/// Rows and cells of RFC 4180 text.
QVector<QStringList> parseCsv(const QByteArray& csv);

QString laneName(const RunModel& run, int lane);  ///< "Quanto int4"
QString laneShortName(const CacheSpec& spec);     ///< "int4", "Had-2": what fits beside a line
QByteArray laneLetter(const RunModel& run, int lane);
QByteArray laneSpec(const RunModel& run, int lane);  ///< the long spec that ran

/// Does the record say how far the lane is from the reference? Not in another text, and not where nothing of what
/// attention had read came from quantized storage: then the lane is the reference.
bool showsError(const RunModel& run, int lane, const StepRecord& record);

/// Model, text, tokens scored from where, mode, how they were drawn, kernels, packed or simulated.
QString provenance(const RunModel& run);
/// "n 51": the tokens that a lane's errors are of.
QString comparedWords(const RunModel& run, int lane);
/// What a caption needs beside that: each lane's scheme with its tokens (`counts`; "": not said) and coverage or why it
/// has no figures, the program, what identifies model and text.
QString captionNotes(const RunModel& run, const std::function<QString(int lane)>& counts = {});
/// What makes the lanes no equal comparison, or "" when nothing does.
QString unequalNote(const RunModel& run);
QString unequalTerms(const RunModel& run);  ///< the same without its first words: "rotation; residual …"

}  // namespace kvasir::ui
