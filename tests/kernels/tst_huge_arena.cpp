// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels/cpu/huge_arena.h"

using kvasir::kernels::HugeArena;

class TestHugeArena : public QObject {
    Q_OBJECT

    static bool isZero(const uint8_t* p, size_t n) {
        return std::all_of(p, p + n, [](uint8_t b) { return b == 0; });
    }

 private slots:
    // Pieces are zero, aligned and apart, also when a chunk was written and given back before.
    void zeroedAlignedAndApart() {
        HugeArena arena(size_t(2) << 20);
        for (int round = 0; round < 3; ++round) {
            std::vector<std::pair<uint8_t*, size_t>> pieces;
            for (const size_t bytes :
                 {size_t(1), size_t(64), size_t(100), size_t(1) << 20, size_t(3) << 20, size_t(7)}) {
                uint8_t* const p = arena.allocate(bytes);
                QCOMPARE(reinterpret_cast<uintptr_t>(p) % 64, uintptr_t(0));
                QVERIFY(isZero(p, bytes));
                std::memset(p, int(pieces.size()) + 1, bytes);
                pieces.emplace_back(p, bytes);
            }
            QCOMPARE(arena.bytes_in_use(), size_t(64 + 64 + 128 + (1 << 20) + (3 << 20) + 64));
            for (size_t i = 0; i < pieces.size(); ++i)
                QVERIFY(std::all_of(pieces[i].first, pieces[i].first + pieces[i].second,
                                    [&](uint8_t b) { return b == uint8_t(i + 1); }));
            for (const auto& [p, bytes] : pieces)
                HugeArena::release(p);
            QCOMPARE(arena.bytes_in_use(), size_t(0));
        }
        HugeArena::release(nullptr);
    }

    void manyThreads() {
        HugeArena arena(size_t(2) << 20);
        std::vector<std::thread> threads;
        std::atomic<int> wrong{0};
        for (int t = 1; t <= 4; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < 200; ++i) {
                    const size_t bytes = size_t(i) * 997 % 50000 + 1;
                    uint8_t* const p = arena.allocate(bytes);
                    if (!isZero(p, bytes)) ++wrong;
                    std::memset(p, t, bytes);
                    std::this_thread::yield();
                    if (p[0] != t || p[bytes - 1] != t) ++wrong;
                    HugeArena::release(p);
                }
            });
        for (std::thread& t : threads)
            t.join();
        QCOMPARE(wrong.load(), 0);
    }
};

QTEST_APPLESS_MAIN(TestHugeArena)
#include "tst_huge_arena.moc"
