// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/feed.h"

namespace kvasir {
namespace {

template <class F>
Status each_side(F&& step) {
    for (const Side side : {Side::k, Side::v})
        if (Status ok = step(side); !ok) return ok;
    return {};
}

Status append(KvCache& cache, int n, const PutToken& put) {
    const int first = cache.n_tokens(0);
    cache.extend(0, n);
    for (int t = first; t < first + n; ++t)
        put(t);
    return each_side([&](Side side) { return cache.commit(0, side); });
}

}  // namespace

Status feed_prompt(KvCache& cache, int n, const PutToken& put) {
    cache.begin_prompt(n);
    if (Status ok = append(cache, n, put); !ok) return ok;
    return each_side([&](Side side) { return cache.finish_prompt(0, side); });
}

Status feed_token(KvCache& cache, const PutToken& put, const std::function<void()>& attend) {
    if (Status ok = append(cache, 1, put); !ok) return ok;
    if (attend) attend();
    return each_side([&](Side side) { return cache.flush(0, side); });
}

}  // namespace kvasir
