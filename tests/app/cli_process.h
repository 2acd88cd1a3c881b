// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as a process.
#pragma once

#include <QByteArray>
#include <QProcess>
#include <QStringList>
#include <nlohmann/json.hpp>

namespace kvasir::test {

struct Outcome {
    int status = -1;
    QByteArray out, err;
    nlohmann::json document() const { return nlohmann::json::parse(out.begin(), out.end(), nullptr, false); }
};

inline Outcome cli(const QStringList& arguments) {
    QProcess process;
    process.start(KVASIR_CLI, arguments);
    process.waitForFinished(300000);
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

}  // namespace kvasir::test
