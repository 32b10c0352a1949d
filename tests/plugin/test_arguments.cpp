// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <vector>

#include "base/types.h"
#include "plugin/arguments.h"

namespace s80::plugin {

namespace {

Arguments parse(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (auto& w : words) {
        pointers.push_back(w.data());
    }
    return Arguments::parse(static_cast<int>(pointers.size()), pointers.data());
}

std::string refusal(const std::vector<std::string>& words) {
    try {
        parse(words);
    } catch (const model::Error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST(Arguments, ACaptureHasNoAccessesOfDevices) {
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o", "ram=r", "dma=1", "capture_full=f.s80c"}),
              "a capture cannot contain accesses of devices: remove the plugin argument dma");
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o", "ram=r", "dma=1"}), "accepted");
}

TEST(Arguments, AllOfThem) {
    const Arguments a =
        parse({"machine=m", "protocol=p", "out=o", "ram=r", "low_ram=3221225472", "state_in=i", "state_out=s",
               "skip=1", "measure=2", "sampling_interval=3", "capture_full=f.s80c", "capture_filtered=g.s80c",
               "capture_origin=origin.json", "clock_shift=2"});
    EXPECT_EQ(a.low_ram, 3221225472U);
    EXPECT_EQ(a.state_in, "i");
    EXPECT_EQ(a.skip, 1U);
    EXPECT_EQ(a.sampling_interval, 3U);
    EXPECT_EQ(a.capture_full, "f.s80c");
    EXPECT_EQ(a.capture_filtered, "g.s80c");
    EXPECT_EQ(a.capture_origin, "origin.json");
    EXPECT_EQ(a.clock_shift, 2U);
}

TEST(Arguments, Refusals) {
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o"}), "the plugin argument ram is missing");
    EXPECT_EQ(refusal({"mashine=m"}), "unknown plugin argument 'mashine=m'");
    EXPECT_EQ(refusal({"skip=many"}), "the plugin argument skip needs a number, not 'many'");
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o", "ram=r", "sampling_interval=0"}),
              "the plugin argument sampling_interval must not be 0");
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o", "ram=r", "clock_shift=11"}),
              "the plugin argument clock_shift must not be above 10");
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o", "ram=r", "sums=s", "sums_limit=999"}),
              "the plugin argument sums_limit must be from 1000 to 1000000000");
    EXPECT_EQ(refusal({"machine=m", "protocol=p", "out=o", "ram=r", "sums=s"}), "accepted");
}

}  // namespace s80::plugin
