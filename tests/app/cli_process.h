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

constexpr int kPatienceMs = 300000;

/// What a process that is at its end (or is waited for) left behind.
inline Outcome outcome_of(QProcess& process) {
    process.waitForFinished(kPatienceMs);
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

inline Outcome cli(const QStringList& arguments) {
    QProcess process;
    process.start(KVASIR_CLI, arguments);
    return outcome_of(process);
}

/// The same through a shell, `"$0"` is the program: for redirections, limits and environments.
inline Outcome shell(const QString& line, const QStringList& arguments = {}) {
    QProcess process;
    process.start("/bin/sh", QStringList{"-c", line, KVASIR_CLI} + arguments);
    return outcome_of(process);
}

}  // namespace kvasir::test
