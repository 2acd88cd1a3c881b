// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/prompts.h"

#include <QCoreApplication>
#include <QFile>

#include "core/session/prompt_library.h"

namespace kvasir::ui {

namespace {

QByteArray resource(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("kvasir: resource %s is missing from the build", qPrintable(path));
    return file.readAll();
}

BuiltInText passage(const QString& id, const QString& title, const QString& about) {
    BuiltInText t;
    t.id = id;
    t.title = title;
    t.what_it_shows = about;
    t.text = QString::fromUtf8(resource(QStringLiteral(":/texts/%1.txt").arg(id)));
    t.score = true;
    return t;
}

std::vector<BuiltInText> readAll() {
    std::vector<BuiltInText> all;
    for (const DemoPrompt& prompt : demo_prompts()) {
        BuiltInText t;
        t.id = QString::fromStdString(prompt.id);
        t.title = QString::fromStdString(prompt.title);
        t.what_it_shows = QString::fromStdString(prompt.about);
        t.text = QString::fromStdString(prompt.text);
        t.chat = prompt.chat;
        t.n_tokens = prompt.suggested_tokens;
        all.push_back(std::move(t));
    }
    all.push_back(
        passage(QStringLiteral("lighthouse"), QStringLiteral("Lighthouse text (score)"),
                QStringLiteral(
                    "The passage that the reference numbers were made with: 128 tokens as prompt, the rest scored.")));
    all.push_back(passage(QStringLiteral("expository-paper"), QStringLiteral("Paper, prose (score)"),
                          QStringLiteral("English exposition.")));
    all.push_back(passage(QStringLiteral("code-tide-table"), QStringLiteral("Tide table, Python (score)"),
                          QStringLiteral("Names and formats recur: recall of identifiers through the cache.")));
    all.push_back(passage(QStringLiteral("korean-island"), QStringLiteral("Island, Korean (score)"),
                          QStringLiteral("A language the default model hardly knows.")));
    return all;
}

}  // namespace

const std::vector<BuiltInText>& builtInTexts() {
    static const std::vector<BuiltInText> all = readAll();
    return all;
}

const BuiltInText* builtInTextOf(const Experiment& experiment) {
    for (const BuiltInText& t : builtInTexts())
        if (t.text.toStdString() == experiment.prompt && t.score == experiment.score_text) return &t;
    return nullptr;
}

Experiment withText(Experiment experiment, const BuiltInText& text) {
    experiment.prompt = text.text.toStdString();
    experiment.chat = text.chat;
    experiment.score_text = text.score;
    experiment.n_tokens = text.n_tokens;
    if (text.score) {
        experiment.prefill = text.prefill;
        experiment.mode = Mode::teacher_forced;
    }
    return experiment;
}

QString textName(const Experiment& experiment) {
    if (const BuiltInText* t = builtInTextOf(experiment)) return t->title;
    QString words = QString::fromStdString(experiment.prompt).simplified();
    if (words.isEmpty()) return QCoreApplication::translate("Prompts", "No text");
    if (words.size() > 22) words = words.left(21) + QChar(0x2026);
    return words;
}

}  // namespace kvasir::ui
