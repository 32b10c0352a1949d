// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's own counters: sums by name, guards, refusals. The "guest's RAM" is a file mapped by the test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/types.h"
#include "plugin/watch.h"

namespace s80::plugin {
namespace {

constexpr std::size_t kBytes = 8192;

class WatchTest : public testing::Test {
protected:
    WatchTest() : path_(testing::TempDir() + "watch-ram-" + std::to_string(getpid())) {
        const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
        EXPECT_EQ(ftruncate(file, kBytes), 0);
        memory_ =
            static_cast<std::uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
    }
    ~WatchTest() override {
        munmap(memory_, kBytes);
        unlink(path_.c_str());
    }
    template <class T>
    void put(std::size_t at, T value) {
        std::memcpy(memory_ + at, &value, sizeof value);
    }
    Watch list(const std::string& text) {
        const std::string name = path_ + ".list";
        std::ofstream(name) << text;
        Watch watch(name, ram_);
        unlink(name.c_str());
        return watch;
    }

    std::string path_;
    GuestRam ram_{path_, 0};
    std::uint8_t* memory_ = nullptr;
};

TEST_F(WatchTest, ValuesOfOneNameAreSummed) {
    put<std::uint32_t>(0x10, 7);
    put<std::uint32_t>(0x14, 0xffffffff);
    put<std::uint64_t>(0x20, std::uint64_t{1} << 40);
    Watch watch = list("ticks 0x10 4\nswitches 0x20 8\nticks 0x14 4\n");
    EXPECT_EQ(watch.names(), (std::vector<std::string>{"ticks", "switches"}));
    EXPECT_EQ(watch.read(), (std::vector<std::uint64_t>{7 + 0xffffffffULL, std::uint64_t{1} << 40}));
    put<std::uint32_t>(0x10, 9);
    EXPECT_EQ(watch.read().front(), 9 + 0xffffffffULL);
}

TEST_F(WatchTest, ATaskThatHasEndedKeepsItsLastValue) {
    put<std::uint32_t>(0x100, 4711);
    put<std::uint64_t>(0x200, 50);
    Watch watch = list("time 0x200 8 0x100 4711\n");
    EXPECT_EQ(watch.read().front(), 50U);
    put<std::uint64_t>(0x200, 60);
    EXPECT_EQ(watch.read().front(), 60U);
    put<std::uint32_t>(0x100, 4712);  // the memory is another task's now
    put<std::uint64_t>(0x200, 1);
    EXPECT_EQ(watch.read().front(), 60U);
}

TEST_F(WatchTest, NothingIsWatchedWithoutAList) {
    EXPECT_TRUE(Watch("", ram_).names().empty());
    EXPECT_THROW(Watch("/dev/null/list", ram_), model::Error);
}

TEST_F(WatchTest, BadLinesAndAddressesAreRefused) {
    for (const char* text : {"ticks\n", "ticks 0x10\n", "ticks 0x10 3\n", "ticks 0x10 4 0x20\n"}) {
        EXPECT_THROW(list(text), model::Error) << text;
    }
    Watch watch = list("ticks 0x10000000 4\n");
    EXPECT_THROW(watch.read(), model::Error);
}

}  // namespace
}  // namespace s80::plugin
