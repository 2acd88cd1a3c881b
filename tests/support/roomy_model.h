// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <cstring>
#include <string>

#include "core/base/read_file.h"
#include "support/golden.h"

namespace kvasir::test {

/// Writes the tiny model with room for 2,048 tokens: a run takes no time, and a text may be longer than a lane is high.
inline bool write_roomy_model(const QString& path) {
    std::string bytes = *read_file(source_path("tests/golden/models/gguf/llama-gqa-Q8_0.gguf"));
    const char key[] = "context_length";
    const size_t value = bytes.find(key) + std::strlen(key) + sizeof(uint32_t);  // the type stands between
    const uint32_t context = 2048;
    std::memcpy(bytes.data() + value, &context, sizeof context);
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes.data(), qint64(bytes.size())) == qint64(bytes.size());
}

}  // namespace kvasir::test
