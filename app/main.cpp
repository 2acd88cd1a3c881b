// SPDX-License-Identifier: GPL-3.0-or-later
#include <unistd.h>
#include <QCommandLineParser>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>

#include "core/base/guard_memory.h"
#include "core/report/provenance.h"
#include "ui/figures/bench_figures.h"
#include "ui/shell/application.h"
#include "ui/shell/automation.h"
#include "ui/shell/main_window.h"
#include "ui/shell/quit_signals.h"

namespace {

/// The exit status is that of the command line: 2 wrong usage, 3 input refused, 4 not written.
int drawFigures(const QStringList& documents, const QString& folder, const QString& theme) {
    const auto kind = theme == QLatin1String("dark") ? kvasir::ui::Theme::Kind::dark : kvasir::ui::Theme::Kind::light;
    const auto drawn = kvasir::ui::drawBenchFigures(documents, folder, kvasir::ui::Theme(kind));
    if (!drawn) {
        std::fprintf(stderr, "error: %s\n", drawn.error().message().c_str());
        const kvasir::ErrorCode code = drawn.error().code;
        return code == kvasir::ErrorCode::usage ? 2 : code == kvasir::ErrorCode::input ? 3 : 4;
    }
    for (const QString& file : drawn->files)
        std::printf("%s\n", qPrintable(file));
    for (const QString& figure : drawn->left_out)
        std::fprintf(stderr, "left out: %s\n", qPrintable(figure));
    return 0;
}

/// Destructors that allocate, and threads that cannot be made, have no other way to say it.
[[noreturn]] void sayWhyAtTheEnd() {
    if (const auto current = std::current_exception()) try {
            std::rethrow_exception(current);
        } catch (const std::bad_alloc&) {
            std::fputs("error: out of memory. Close other programs or use a smaller model.\n", stderr);
            ::_exit(4);
        } catch (...) {
        }
    std::abort();
}

int runWindow(int argc, char** argv) {
    // Figures need no display; the platform is chosen before there is an application that could parse options.
    if (std::any_of(argv + 1, argv + argc, [](const char* a) { return std::string_view(a) == "--figures"; }))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    kvasir::ui::Application app(argc, argv);
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
                                 tr("A model (.gguf), a text (.txt, .md) or a session (.kvasir); with --figures speed "
                                    "measurements (.json)."),
                                 QStringLiteral("[file...]"));
    const QCommandLineOption reset(QStringLiteral("reset-settings"),
                                   tr("Forgets layout, theme and the last experiment before it starts."));
    const QCommandLineOption run(QStringLiteral("run"), tr("Runs the experiment at once."));
    const QCommandLineOption theme(QStringLiteral("theme"),
                                   tr("light, dark, contrast or auto; for figures light, dark or paper "
                                      "(light, and the default)."),
                                   tr("name"));
    const QCommandLineOption screenshot(
        QStringLiteral("screenshot"),
        tr("Runs the first experiment, saves pictures of the window into a folder and quits."), tr("folder"));
    const QCommandLineOption benchmark(QStringLiteral("benchmark"),
                                       tr("Runs the first experiment, prints how fast the window answered and quits."));
    const QCommandLineOption figures(
        QStringLiteral("figures"),
        tr("Draws the speed measurements that kvasir-cli bench --json wrote, as SVG and PNG, and quits."));
    const QCommandLineOption out(QStringLiteral("out"), tr("Where --figures writes."), tr("folder"));
    parser.addOptions({reset, run, theme, screenshot, benchmark, figures, out});
    parser.process(app);

    if (parser.isSet(figures)) {
        const QString name = parser.isSet(theme) ? parser.value(theme) : QStringLiteral("paper");
        if (!parser.isSet(out) || parser.positionalArguments().isEmpty() ||
            !QStringList{QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("paper")}.contains(name)) {
            qCritical("kvasir: use --figures BENCH.json... --out DIR [--theme light|dark|paper].");
            return 2;
        }
        return drawFigures(parser.positionalArguments(), parser.value(out), name);
    }

    const bool automatic = parser.isSet(screenshot) || parser.isSet(benchmark);
    kvasir::ui::Settings settings(!automatic);  // pictures and figures start from nothing and leave nothing
    if (parser.isSet(reset)) settings.reset();
    const QTemporaryDir measured;  // a benchmark keeps a journal as every run does, but not among the user's
    kvasir::ui::MainWindow window(settings, parser.isSet(benchmark) ? measured.path() : QString());
    app.whenMemoryRunsOut([&window] { window.memoryRanOut(); });
    const kvasir::ui::QuitSignals quit_signals([&window] { window.quitUnasked(); });
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

}  // namespace

int main(int argc, char** argv) {
    std::set_terminate(sayWhyAtTheEnd);
    return kvasir::guard_memory([&] { return runWindow(argc, argv); },
                                [] {
                                    std::fputs("error: out of memory. Close other programs.\n", stderr);
                                    return 4;
                                });
}
