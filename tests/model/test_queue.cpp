// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/home/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "random_epochs.h"

namespace s80::model {

namespace {

constexpr std::int64_t kService = 30;

/// One that serves requests in the order of their moments: all waits together, and until when it is busy.
struct InOrder {
    explicit InOrder(std::vector<std::int64_t> moments) {
        std::ranges::sort(moments);
        for (const std::int64_t when : moments) {
            const std::int64_t begin = std::max(when, free);
            waits += begin - when;
            idle += begin - free;
            free = begin + kService;
        }
    }
    std::int64_t waits = 0;
    std::int64_t free = 0;
    std::int64_t idle = 0;
};

/// What lies between the busy times, from 0 on.
std::int64_t idle(const Queue& queue) {
    std::int64_t free = 0;
    std::int64_t sum = 0;
    for (const auto& [begin, end] : queue.busy()) {
        sum += begin - free;
        free = end;
    }
    return sum;
}

}  // namespace

TEST(Queue, AFreeOneServesAtOnce) {
    Queue queue(kService);
    EXPECT_EQ(queue.serve(100), 0);
    EXPECT_EQ(queue.serve(130), 0);
    EXPECT_EQ(queue.serve(1000), 0);
}

TEST(Queue, WhoComesMeanwhileWaitsForTheRest) {
    Queue queue(kService);
    queue.serve(100);
    EXPECT_EQ(queue.serve(110), 20);
    EXPECT_EQ(queue.serve(110), 50);
}

TEST(Queue, AnEarlierMomentIsServedInTheTimeBeforeALaterOne) {
    Queue queue(kService);
    queue.serve(200);
    EXPECT_EQ(queue.serve(170), 0) << "there is just room";
    EXPECT_EQ(queue.serve(100), 0);
}

TEST(Queue, ARequestIsChargedForThoseOfLaterMomentsThatItDelays) {
    Queue queue(kService);
    queue.serve(200);
    queue.serve(150);
    // Served from 180 on, it keeps the request of 200 waiting until 210; that one was told 0.
    EXPECT_EQ(queue.serve(175), 5 + 10);
    ASSERT_EQ(queue.busy().size(), 1U);
    EXPECT_EQ(queue.busy().front().begin, 150);
    EXPECT_EQ(queue.busy().front().end, 150 + 3 * kService);
}

/// Light load to overload (a request every 80 to 20 cycles, served in 30), each played up to some time late.
TEST(Queue, WaitsAndIdleTimeDoNotDependOnTheOrder) {
    for (const unsigned between : {160U, 80U, 60U, 40U}) {
        for (const unsigned late : {1U, 100U, 1000U, 20'000U}) {
            Queue queue(kService);
            test::Draw draw(between + late);
            std::vector<std::int64_t> moments;
            std::int64_t clock = late;
            std::int64_t waits = 0;
            for (int i = 0; i < 2000; ++i) {
                clock += draw.below(between);
                moments.push_back(clock - draw.below(late));
                waits += queue.serve(moments.back());
            }
            const InOrder expected(moments);
            EXPECT_EQ(waits, expected.waits) << between << ", late by up to " << late;
            EXPECT_EQ(queue.busy().back().end, expected.free);
            EXPECT_EQ(idle(queue), expected.idle);
        }
    }
}

TEST(Queue, WhatIsForgottenDoesNotMatterAnyMore) {
    Queue all(kService);
    Queue few(kService);
    test::Draw draw(7);
    std::int64_t clock = 0;
    for (int i = 0; i < 20'000; ++i) {
        clock += draw.below(120);
        const std::int64_t when = clock + draw.below(1000);
        ASSERT_EQ(few.serve(when), all.serve(when)) << "request " << i;
        few.forget(clock);
        ASSERT_LT(few.busy().size(), 100U);
    }
    EXPECT_GT(all.busy().size(), 1000U);
}

}  // namespace s80::model
