// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>
#include <memory>

#include "core/report/provenance.h"
#include "ui/shell/automation.h"
#include "ui/shell/main_window.h"

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QApplication::setApplicationName(QStringLiteral("kvasir"));
    QApplication::setApplicationDisplayName(QStringLiteral("Kvasir"));
    QApplication::setApplicationVersion(QString::fromStdString(
        kvasir::provenance(nullptr, kvasir::KernelPath::fused)["kvasir"]["version"].get<std::string>()));

    const auto tr = [](const char* text) { return QCoreApplication::translate("main", text); };
    QCommandLineParser parser;
    parser.setApplicationDescription(tr("Runs a language model through several quantized KV caches side by side."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("file"),
                                 tr("A model (.gguf), a text (.txt, .md) or a session (.kvasir)."),
                                 QStringLiteral("[file...]"));
    const QCommandLineOption reset(QStringLiteral("reset-settings"),
                                   tr("Forgets layout, theme and the last experiment before it starts."));
    const QCommandLineOption run(QStringLiteral("run"), tr("Runs the experiment at once."));
    const QCommandLineOption theme(QStringLiteral("theme"), tr("light, dark, contrast or auto."), tr("name"));
    const QCommandLineOption screenshot(
        QStringLiteral("screenshot"),
        tr("Runs the first experiment, saves pictures of the window into a folder and quits."), tr("folder"));
    const QCommandLineOption benchmark(QStringLiteral("benchmark"),
                                       tr("Runs the first experiment, prints how fast the window answered and quits."));
    parser.addOptions({reset, run, theme, screenshot, benchmark});
    parser.process(app);

    const bool automatic = parser.isSet(screenshot) || parser.isSet(benchmark);
    kvasir::ui::Settings settings(!automatic);  // pictures and figures start from nothing and leave nothing
    if (parser.isSet(reset)) settings.reset();
    kvasir::ui::MainWindow window(settings);
    if (parser.isSet(theme)) {
        const QString name = parser.value(theme);
        if (!QStringList{QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("contrast"),
                         QStringLiteral("auto")}
                 .contains(name)) {
            qCritical("kvasir: --theme %s: use light, dark, contrast or auto.", qPrintable(name));
            return 2;
        }
        window.setTheme(name);
    }
    window.show();

    bool model_named = false;
    for (const QString& path : parser.positionalArguments()) {
        window.openPath(path, false);
        model_named = model_named || path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive);
    }
    if (!model_named) window.loadFirstModel();

    std::unique_ptr<QObject> driver;
    if (parser.isSet(screenshot)) {
        auto tour = std::make_unique<kvasir::ui::ScreenshotTour>(window, parser.value(screenshot));
        tour->start();
        driver = std::move(tour);
    } else if (parser.isSet(benchmark)) {
        auto measure = std::make_unique<kvasir::ui::ResponseBenchmark>(window);
        measure->start();
        driver = std::move(measure);
    } else if (parser.isSet(run)) {
        window.controller().start();
    }
    return QApplication::exec();
}
