// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <vector>

#include "clock.h"
#include "task.h"
#include "timers.h"

namespace s80::loadgen {
namespace {

Task note(Timer& timer, int number, std::vector<int>& order) {
    co_await timer;
    order.push_back(number);
}

TEST(Timers, FireInOrderAndNotOneNanosecondEarly) {
    Timers timers;
    Timer late, early;
    std::vector<int> order;
    Task first = note(late, 2, order);
    Task second = note(early, 1, order);
    first.start();
    second.start();
    timers.arm(late, 20);
    timers.arm(early, 10);
    timers.fire(9);
    EXPECT_TRUE(order.empty());
    timers.fire(10);
    EXPECT_EQ(order, (std::vector<int>{1}));
    EXPECT_EQ(timers.next(), 20u);
    timers.fire(1000);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Timers, ArmingAnewMakesTheOldMomentVoid) {
    Timers timers;
    Timer timer;
    std::vector<int> order;
    Task task = note(timer, 1, order);
    task.start();
    timers.arm(timer, 10);
    timers.arm(timer, 30);
    timers.fire(29);
    EXPECT_TRUE(order.empty());
    timers.fire(30);
    EXPECT_TRUE(task.done());
}

TEST(Clock, WithoutShiftIsTheMonotonicClock) {
    const Clock clock("host");
    EXPECT_EQ(clock.monotonic_ns(50'000'000), 50'000'000u);
}

TEST(Clock, WithShiftRunsSlowerThanTheMonotonicClock) {
    Clock clock("host");
    const std::uint64_t before = clock.now();
    clock.set_shift(3);
    EXPECT_GE(clock.now(), before / 8);
    EXPECT_LT(clock.now(), before / 4);
    EXPECT_EQ(clock.monotonic_ns(50'000'000), 400'000'000u);
}

}  // namespace
}  // namespace s80::loadgen
