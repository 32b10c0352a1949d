// SPDX-License-Identifier: GPL-2.0-or-later
// What s80-replay refuses.
#include <gtest/gtest.h>

#include "capture_file.h"
#include "replay/replay.h"

namespace s80::test {

class ReplayCheck : public ::testing::Test {
protected:
    trace::Header header = header_for(true);
    model::Machine machine = model::Machine::parse(kMachine, "the test's machine");

    std::string refusal() {
        return error_of([&] { replay::check(header, machine); });
    }
};

TEST_F(ReplayCheck, TheMachineOfTheCapture) {
    EXPECT_EQ(refusal(), "");
}

TEST_F(ReplayCheck, AnotherL2IsWhatReplayIsFor) {
    machine.l2 = {8192, 2};
    EXPECT_EQ(refusal(), "");
}

TEST_F(ReplayCheck, AnotherL1NeedsAFullCapture) {
    machine.l1d.ways = 1;
    EXPECT_NE(refusal().find("l1d.ways = 2"), std::string::npos);
    header.form = trace::Form::full;
    EXPECT_EQ(refusal(), "");
}

TEST_F(ReplayCheck, L1Sizes) {
    machine.l1i.bytes = 1024;
    EXPECT_NE(refusal().find("l1i.size = 512"), std::string::npos);
}

TEST_F(ReplayCheck, OtherThreadsNeedAFullCapture) {
    machine.threads_per_core = 3;
    EXPECT_NE(refusal().find("threads_per_core"), std::string::npos);
    header.form = trace::Form::full;
    EXPECT_EQ(refusal(), "");
}

TEST_F(ReplayCheck, LinesAndProcessorsMustAlwaysBeTheSame) {
    for (const trace::Form form : {trace::Form::full, trace::Form::filtered}) {
        header.form = form;
        machine.line_bytes = 64;
        EXPECT_NE(refusal().find("line_bytes = 128"), std::string::npos);
        machine.line_bytes = 128;
        machine.processors = 6;
        EXPECT_NE(refusal().find("processors.count = 3"), std::string::npos);
        machine.processors = 3;
    }
}

TEST(ReplayArguments, NamesWhatIsWrong) {
    const auto parse = [](std::vector<std::string> words) {
        words.insert(words.begin(), "s80-replay");
        return error_of([&] {
            std::vector<char*> argv;
            argv.reserve(words.size());
            for (std::string& word : words) {
                argv.push_back(word.data());
            }
            replay::Arguments::parse(static_cast<int>(argv.size()), argv.data());
        });
    };
    EXPECT_EQ(parse({"capture=a", "machine=b", "protocol=c", "out=d"}), "");
    EXPECT_EQ(parse({"capture=a", "machine=b", "protocol=c", "out=d", "read_ahead=yes"}), "");
    EXPECT_NE(parse({"capture=a", "machine=b", "protocol=c", "out=d", "read_ahead=maybe"}).find("yes or no"),
              std::string::npos);
    EXPECT_NE(parse({"capture=a", "machine=b", "protocol=c"}).find("out="), std::string::npos);
    EXPECT_NE(parse({"caputre=a"}).find("'caputre=a'"), std::string::npos);
    EXPECT_NE(parse({"capture"}).find("'capture'"), std::string::npos);
}

}  // namespace s80::test
