// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <atomic>
#include <chrono>
#include <new>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "kernels/cpu/thread_pool.h"

using kvasir::kernels::ThreadPool;

class TestThreadPool : public QObject {
    Q_OBJECT

 private slots:
    void what_an_item_throws_reaches_the_caller() {
        for (int threads : {1, 2, 7}) {
            ThreadPool pool(threads);
            for (int round = 0; round < 20; ++round) {
                std::atomic<int> n_done{0};
                bool thrown = false;
                try {
                    pool.for_each(100, 1, [&](int i, int) {
                        if (i % 40 == 7) throw std::bad_alloc();
                        ++n_done;
                    });
                } catch (const std::bad_alloc&) {
                    thrown = true;
                }
                QVERIFY(thrown);
                if (threads > 1) QCOMPARE(n_done.load(), 97);  // items 7, 47 and 87 were not
                n_done = 0;
                pool.for_each(100, 1, [&](int, int) { ++n_done; });
                QCOMPARE(n_done.load(), 100);
            }
        }
    }

    void every_item_once_data() {
        QTest::addColumn<int>("threads");
        for (int threads : {1, 2, 3, 16})
            QTest::addRow("%d threads", threads) << threads;
    }

    void every_item_once() {
        QFETCH(int, threads);
        ThreadPool pool(threads);
        QCOMPARE(pool.size(), threads);
        for (int n : {0, 1, 2, 7, 1000})
            for (int grain : {-1, 1, 3, 5000}) {
                std::vector<int> count(size_t(n), 0), thread_of(size_t(n), -1);  // plain ints: the region orders them
                pool.for_each(n, grain, [&](int i, int thread) {
                    ++count[size_t(i)];
                    thread_of[size_t(i)] = thread;
                });
                QCOMPARE(count, std::vector<int>(size_t(n), 1));
                for (int thread : thread_of)
                    QVERIFY(thread >= 0 && thread < threads);
            }
    }

    void blocks_have_the_grain() {
        ThreadPool pool(3);
        std::vector<int> length(103, 0);
        pool.for_blocks(103, 10, [&](int begin, int end, int) { length[size_t(begin)] = end - begin; });
        for (int i = 0; i < 103; ++i)
            QCOMPARE(length[size_t(i)], i % 10 != 0 ? 0 : i == 100 ? 3 : 10);
    }

    // What a region wrote is there for the next one, thousands of times, whether workers spin or sleep.
    void regions_follow_each_other() {
        ThreadPool pool(4);
        std::vector<long> values(257, 0);
        for (int round = 0; round < 5000; ++round) {
            pool.for_each(int(values.size()), 8, [&](int i, int) { values[size_t(i)] += i; });
            if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        for (size_t i = 0; i < values.size(); ++i)
            QCOMPARE(values[i], 5000L * long(i));
    }

    // A worker takes part: items wait for each other, so one thread alone would never finish.
    void threads_run_together() {
        ThreadPool pool(2);
        for (int round = 0; round < 50; ++round) {
            std::atomic<int> arrived{0};
            std::set<int> threads;
            std::vector<int> thread_of(2, -1);
            pool.for_each(2, 1, [&](int i, int thread) {
                thread_of[size_t(i)] = thread;
                ++arrived;
                while (arrived.load() < 2)
                    std::this_thread::yield();
            });
            QVERIFY(thread_of[0] != thread_of[1]);
        }
    }

    void pools_come_and_go() {
        for (int i = 0; i < 200; ++i) {
            ThreadPool pool(3);
            std::atomic<int> sum{0};
            if (i % 2 == 0) pool.for_each(10, 1, [&](int k, int) { sum += k; });
            QCOMPARE(sum.load(), i % 2 == 0 ? 45 : 0);
        }
    }

    void two_pools_at_once() {
        std::vector<long> sums(2, 0);
        std::vector<std::thread> callers;
        for (size_t c = 0; c < 2; ++c)
            callers.emplace_back([&sums, c] {
                ThreadPool pool(2);
                std::vector<int> values(100);
                for (int round = 0; round < 200; ++round) {
                    pool.for_each(100, 7, [&](int i, int) { values[size_t(i)] = i + round; });
                    sums[c] += std::accumulate(values.begin(), values.end(), 0L);
                }
            });
        for (std::thread& caller : callers)
            caller.join();
        QCOMPARE(sums[0], 200L * 4950 + 100L * 19900);
        QCOMPARE(sums[1], sums[0]);
    }
};

QTEST_APPLESS_MAIN(TestThreadPool)
#include "tst_thread_pool.moc"
