// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "random_windows.h"

namespace s80::model {

namespace {

constexpr std::int64_t kService = 30;

/// The first moment from `when` on at which nothing is served for a whole service, by looking at all there
/// is.
std::int64_t first_free(const std::set<std::int64_t>& begins, std::int64_t when) {
    for (std::int64_t begin = when;;) {
        const auto clash = std::find_if(begins.begin(), begins.end(), [&](std::int64_t other) {
            return other < begin + kService && begin < other + kService;
        });
        if (clash == begins.end()) {
            return begin;
        }
        begin = *clash + kService;
    }
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

TEST(Queue, AnEarlierMomentIsServedBeforeALaterOne) {
    Queue queue(kService);
    queue.serve(200);
    EXPECT_EQ(queue.serve(150), 0);
    EXPECT_EQ(queue.serve(175), 55) << "20 cycles before the service at 200 are too short";
    EXPECT_EQ(queue.serve(110), 0);
}

TEST(Queue, EachTakesTheFirstFreeTimeWhateverTheOrder) {
    Queue queue(kService);
    std::set<std::int64_t> begins;
    test::Draw draw(7);
    std::int64_t clock = 0;
    for (int i = 0; i < 20'000; ++i) {
        clock += draw.below(60);
        const std::int64_t when = clock - draw.below(1000);
        const std::int64_t wait = queue.serve(when);
        ASSERT_EQ(when + wait, first_free(begins, when)) << "request " << i;
        begins.insert(when + wait);
        begins.erase(begins.begin(), begins.lower_bound(clock - 2000));
    }
}

}  // namespace s80::model
