// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/walk/walk_files.h"

#include <QDir>
#include <QFile>

#include "core/base/read_file.h"
#include "core/session/run_fixture.h"
#include "core/session/session_file.h"
#include "support/roomy_model.h"
#include "ui/walk/walk.h"

namespace kvasir::test {

namespace {

void write(const QString& path, const std::string& bytes) {
    QFile file(path);
    if (file.open(QIODevice::WriteOnly)) file.write(bytes.data(), qint64(bytes.size()));
}

nlohmann::json hostileValue(Dice& dice) {
    using nlohmann::json;
    switch (dice.below(14)) {
        case 0:
            return nullptr;
        case 1:
            return -1;
        case 2:
            return 0;
        case 3:
            return 2000000000;
        case 4:
            return int64_t(1) << 60;
        case 5:
            return -(int64_t(1) << 60);
        case 6:
            return 1e308;
        case 7:
            return "x";
        case 8:
            return "";
        case 9:
            return json::array();
        case 10:
            return json::object();
        case 11:
            return json::array({1, 2});
        case 12:
            return true;
        default:
            return std::string("a\0b\xC3\xA9 \xF0\x9F\x98\x80 <b>", 15);
    }
}

/// Replaces, removes or doubles one value somewhere in the document.
void spoil(nlohmann::json& at, Dice& dice) {
    if (at.is_structured() && !at.empty() && !dice.oneIn(12)) {
        auto child = at.begin();
        std::advance(child, dice.below(int(at.size())));
        if (child->is_structured() && !dice.oneIn(5)) return spoil(*child, dice);
        const int how = dice.below(6);
        if (how == 0)
            at.erase(child);
        else if (how == 1 && at.is_array())
            at.push_back(nlohmann::json(*child));
        else
            *child = hostileValue(dice);
        return;
    }
    at = hostileValue(dice);
}

}  // namespace

CacheSpec anyScheme(Dice& dice) {
    const char* const specs[] = {"fp16",
                                 "fp32",
                                 "quanto:4,residual=8",
                                 "quanto:2,residual=4",
                                 "hqq:4,group=16,residual=8",
                                 "kivi:2,group=8,residual=8",
                                 "ggml:q8_0",
                                 "ggml:q4_0",
                                 "tq:3",
                                 "fp8",
                                 "hadamard:2",
                                 "quanto:4",
                                 "quanto:2",
                                 "kivi:2,group=48,residual=48"};
    for (;;)
        if (auto spec = parse_cache_spec(dice.of(specs))) return spec.value();
}

QString anyText(Dice& dice) {
    const QString texts[] = {
        QString(),
        QStringLiteral("a"),
        QStringLiteral("The keeper of the lighthouse has a cat named Biscuit. ").repeated(1 + dice.below(6)),
        QStringLiteral("등대지기가 이름을 적었다.\n\n\tشمس 🦊 e\u0301 ").repeated(1 + dice.below(4)),
        QString(400, QLatin1Char('m')),
        QStringLiteral("<b>not bold</b> &amp; <img src='x'> %1 %2\r\n"),
    };
    return dice.of(texts);
}

WalkFiles::WalkFiles(const QString& folder)
    : folder_(folder), model_(QDir(folder).filePath(QStringLiteral("tiny.gguf"))) {
    write_roomy_model(model_);
    loaded_ = load(model_.toStdString());
}

QString WalkFiles::next(const QString& suffix) {
    return QDir(folder_).filePath(QStringLiteral("file-%1%2").arg(++n_files_).arg(suffix));
}

QString WalkFiles::session(Dice& dice) {
    Session session;
    Experiment& e = session.experiment;
    e = experiment({}, 1 + dice.below(dice.oneIn(2) ? 500 : 20));
    e.prompt = "the lighthouse keeper wrote down the names. ";
    e.score_text = false;
    e.min_tokens = e.n_tokens;
    e.model_path = model_.toStdString();
    e.mode = dice.oneIn(3) ? Mode::free_running : Mode::teacher_forced;
    e.noise_floor = dice.oneIn(2);
    const int n_lanes = 1 + dice.below(8);
    for (int i = 0; i < n_lanes; ++i)
        e.lanes.push_back({anyScheme(dice), !dice.oneIn(5)});
    e.reference = dice.oneIn(3) ? dice.below(n_lanes) : 0;
    if (!dice.oneIn(5))
        if (auto run = Run::create(loaded_, e)) (void)run_to_end(**run, *loaded_, session.run);
    const QString path = next(QStringLiteral(".kvasir"));
    (void)save_session(session, path.toStdString());
    return path;
}

QString WalkFiles::hostileSession(Dice& dice) {
    const QString path = session(dice);
    const auto bytes = read_file(path.toStdString());
    if (!bytes) return path;
    if (dice.oneIn(4)) {
        write(path, bytes->substr(0, size_t(dice.below(int(bytes->size())))));
        return path;
    }
    auto json = nlohmann::json::parse(*bytes);
    for (int i = 1 + dice.below(3); i > 0; --i)
        spoil(json, dice);
    write(path, json.dump());
    return path;
}

QString WalkFiles::any(Dice& dice) {
    switch (dice.below(9)) {
        case 0:
        case 1:
            return session(dice);
        case 2:
        case 3:
            return hostileSession(dice);
        case 4:
            return model_;
        case 5: {
            const QString path = next(QStringLiteral(".gguf"));
            write(path, read_file(model_.toStdString())->substr(0, size_t(dice.below(60000))));
            return path;
        }
        case 6: {
            const QString path = next(dice.oneIn(2) ? QStringLiteral(".txt") : QStringLiteral(".md"));
            write(path, (anyText(dice).toStdString() + (dice.oneIn(3) ? "\xFF\xFE" : "")));
            return path;
        }
        case 7: {
            const QString path = next(dice.oneIn(2) ? QStringLiteral(".png") : QString());
            write(path, "no picture");
            return path;
        }
        default:
            return dice.oneIn(2) ? folder_ : next(QStringLiteral("-not-there.kvasir"));
    }
}

QString WalkFiles::target(Dice& dice, const QString& suffix) {
    const QDir dir(folder_);
    switch (dice.below(6)) {
        case 0:
            return dir.filePath(QStringLiteral("again") + suffix);
        case 1:
            return dir.filePath(QStringLiteral("without"));
        case 2:
            return dir.filePath(QStringLiteral("no-such-folder/a") + suffix);
        case 3:
            return dir.filePath(QString(300, QLatin1Char('n')) + suffix);
        default:
            return next(suffix);
    }
}

QString WalkFiles::folderTarget(Dice& dice) {
    const QString path = dice.oneIn(3) ? folder_ : next(QStringLiteral("-folder"));
    if (!dice.oneIn(4)) QDir().mkpath(path);
    return path;
}

}  // namespace kvasir::test
