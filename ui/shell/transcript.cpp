// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/transcript.h"

#include "core/model/tokenizer.h"
#include "ui/shell/format.h"

namespace kvasir::ui {

QString transcriptText(const RunModel& run) {
    if (run.empty()) return {};
    const RunInfo& info = run.info();
    QString text = provenance(run) + QLatin1Char('\n');
    if (const QString note = unequalNote(run); !note.isEmpty()) text += note + QLatin1Char('\n');
    std::string prompt;
    for (const int id : info.prompt_ids)
        prompt += run.piece_of(id);
    text += QStringLiteral("\n[prompt, %1 tokens]\n%2\n")
                .arg(info.prompt_ids.size())
                .arg(QString::fromStdString(valid_utf8(prompt)));
    const NoiseFloor noise = run.noise_floor();
    const QString floor = noise.n > 0 ? QStringLiteral(" (noise floor %1)").arg(errorText(noise.kl_mean)) : QString();
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        if (run.lane(lane).empty()) continue;
        const LaneSummary s = run.summary(lane);
        std::string bytes;
        for (const StepRecord& r : run.lane(lane))
            bytes += run.piece_of(r.token_id);
        text += QStringLiteral("\n[%1 %2: %3]\n")
                    .arg(QString::fromLatin1(laneLetter(run, lane)), laneName(run, lane),
                         QString::fromStdString(info.lanes[size_t(lane)].active));
        text += QStringLiteral("bits per value %1, effective %2; %3 MiB; mean KL %4 nats%5; same top-1 %6; tokens %7")
                    .arg(fixedText(info.lanes[size_t(lane)].nominal_bits, 1), fixedText(s.effective_bits, 2),
                         mibText(s.bytes.total()), errorText(s.kl_mean), floor, percentText(s.top1_agreement))
                    .arg(s.n_scored);
        if (s.first_flip >= 0)
            text += QStringLiteral("; first flip at token %1, margin %2")
                        .arg(run.lane(lane)[size_t(s.first_flip)].position)
                        .arg(fixedText(double(s.first_flip_margin), 2));
        text += QLatin1Char('\n') + QString::fromStdString(valid_utf8(bytes)) + QLatin1Char('\n');
    }
    return text;
}

}  // namespace kvasir::ui
