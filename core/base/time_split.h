// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace kvasir {

/// Where one lane's step went, nanoseconds of wall time. Work that is the same for all lanes (matmul, other) is divided
/// equally among them; reading and quantizing its cache is each lane's own. Over all lanes the parts add up to the
/// step.
struct TimeSplit {
    double matmul = 0, quantize = 0, scores = 0, softmax = 0, weighted_sum = 0, rotate = 0, other = 0;
    double total() const { return matmul + quantize + scores + softmax + weighted_sum + rotate + other; }
    TimeSplit& operator+=(const TimeSplit& o) {
        matmul += o.matmul, quantize += o.quantize, scores += o.scores, softmax += o.softmax;
        weighted_sum += o.weighted_sum, rotate += o.rotate, other += o.other;
        return *this;
    }
};

}  // namespace kvasir
