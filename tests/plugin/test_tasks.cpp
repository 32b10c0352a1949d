// SPDX-License-Identifier: GPL-2.0-or-later
// Tasks of a made-up kernel, in a RAM of a few pages with page tables of its own.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstring>
#include <fstream>

#include "plugin/classes.h"
#include "plugin/tasks.h"

namespace s80::plugin {

namespace {

using model::KernelEntry;
using model::ProcessClass;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kRam = 64 * kPage;
/// Where the RAM stands in the kernel's half: a page table maps all of it.
constexpr std::uint64_t kBase = 0xffff'8880'0000'0000;
constexpr std::uint64_t kTable = kPage;  ///< the top page table; the three below follow it
constexpr std::uint64_t kPerCpu = 8 * kPage;
constexpr std::uint64_t kStacks = 16 * kPage;
constexpr std::uint64_t kStackBytes = 16384;

class TasksTest : public testing::Test {
protected:
    TasksTest() : path_(testing::TempDir() + "ram.img"), ram_(path_, 0) {
        const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
        EXPECT_EQ(ftruncate(file, kRam), 0);
        bytes_ = static_cast<std::uint8_t*>(mmap(nullptr, kRam, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
        map_all();
        Kernel kernel;
        kernel.current_task = 0x80;
        kernel.comm = 64;
        kernel.pid = 16;
        kernel.tgid = 24;
        kernel.flags = 20;
        kernel.stack = 32;
        const std::string classes = testing::TempDir() + "classes.toml";
        std::ofstream(classes) << "session = [\"imap\"]\ndelivery = [\"lmtp\"]\n";
        tasks_.emplace(kernel, Classes::load(classes), ram_);
    }
    ~TasksTest() override { munmap(bytes_, kRam); }

    void put(std::uint64_t physical, std::uint64_t value) {
        std::memcpy(bytes_ + physical, &value, sizeof value);
    }
    void map_all() {
        for (unsigned level = 0; level < 3; ++level) {
            const std::uint64_t index = kBase >> (39 - 9 * level) & 511;
            put(kTable + level * kPage + index * 8, (kTable + (level + 1) * kPage) | 1);
        }
        for (std::uint64_t page = 0; page < kRam / kPage; ++page) {
            put(kTable + 3 * kPage + page * 8, (page * kPage) | 1);
        }
    }
    /// The virtual address of task number `n`, which has a stack of its own.
    std::uint64_t task(unsigned n, const char* name, std::uint32_t pid, std::uint32_t flags = 0) {
        const std::uint64_t at = 10 * kPage + n * 256;
        put(at + 16, pid | std::uint64_t{flags} << 32);
        put(at + 24, pid);
        put(at + 32, kBase + kStacks + n * kStackBytes);
        std::strncpy(reinterpret_cast<char*>(bytes_ + at + 64), name, 16);
        return kBase + at;
    }
    /// It entered the kernel from user code by this system call.
    void called(unsigned n, std::uint64_t number) {
        const std::uint64_t end = kStacks + (n + 1) * kStackBytes;
        put(end - 48, number);
        put(end - 32, 0x33);
    }
    void run(Running& running, std::uint64_t task) {
        put(kPerCpu + 0x80, task);
        tasks_->look(running, kBase + kPerCpu, kTable);
    }

    std::string path_;
    GuestRam ram_;
    std::uint8_t* bytes_ = nullptr;
    std::optional<Tasks> tasks_;
    Running running_;
};

constexpr std::uint32_t kKernelThread = 0x0020'0000;

}  // namespace

TEST_F(TasksTest, ClassesFollowTheTask) {
    run(running_, task(0, "imap", 100));
    EXPECT_EQ(running_.task.process_class, ProcessClass::session);
    EXPECT_EQ(running_.task.name, "imap");
    EXPECT_EQ(running_.task.tgid, 100U);
    run(running_, task(1, "swapper/3", 0, kKernelThread));
    EXPECT_EQ(running_.task.process_class, ProcessClass::idle);
    EXPECT_EQ(running_.kernel_context().entry(), KernelEntry::idle);
    run(running_, task(2, "kworker/0:1", 7, kKernelThread));
    EXPECT_EQ(running_.task.process_class, ProcessClass::kernel);
    EXPECT_EQ(running_.kernel_context().entry(), KernelEntry::kernel_thread);
    run(running_, task(3, "sh", 101));
    EXPECT_EQ(running_.task.process_class, ProcessClass::other);
}

TEST_F(TasksTest, AProcessThatTakesAnotherNameChangesItsClass) {
    run(running_, task(0, "dovecot", 100));
    EXPECT_EQ(running_.task.process_class, ProcessClass::other);
    run(running_, task(0, "imap", 100));
    EXPECT_EQ(running_.task.process_class, ProcessClass::session);
}

TEST_F(TasksTest, ASleepingCallGoesOnWhereItWas) {
    const auto reader = task(0, "imap", 100);
    const auto idle = task(1, "swapper/0", 0, kKernelThread);
    run(running_, reader);
    running_.frames.push({KernelEntry::system_call, 0, 0});
    running_.frames.push({KernelEntry::fault, 0, 0});
    run(running_, idle);
    EXPECT_EQ(running_.kernel_context().entry(), KernelEntry::idle);
    running_.frames.push({KernelEntry::tick, 0, 0});
    EXPECT_EQ(running_.kernel_context().entry(), KernelEntry::tick);
    running_.frames.pop();
    Running other;  // on another processor
    run(other, task(2, "swapper/1", 0, kKernelThread));
    run(other, reader);
    EXPECT_EQ(other.kernel_context().entry(), KernelEntry::fault);
    other.frames.pop();
    EXPECT_EQ(other.kernel_context().entry(), KernelEntry::system_call);
}

TEST_F(TasksTest, ATaskOfASavedGuestIsInTheCallThatItsStackNames) {
    const auto poller = task(0, "imap", 100);
    const auto preempted = task(1, "lmtp", 101);
    called(0, 232);
    called(1, ~std::uint64_t{0});
    run(running_, task(2, "swapper/0", 0, kKernelThread));
    run(running_, poller);
    ASSERT_FALSE(running_.frames.empty());
    EXPECT_EQ(running_.kernel_context().entry(), KernelEntry::system_call);
    EXPECT_EQ(running_.frames.top().system_call, 232);
    run(running_, preempted);
    EXPECT_EQ(running_.kernel_context().entry(), KernelEntry::unknown) << "a fault or an interrupt";
}

TEST_F(TasksTest, ATaskInTheMemoryOfADeadOneBeginsAnew) {
    const auto idle = task(1, "swapper/0", 0, kKernelThread);
    run(running_, idle);
    run(running_, task(0, "imap", 100));
    running_.frames.push({KernelEntry::system_call, 231, 0});  // exit_group
    run(running_, idle);
    run(running_, task(0, "imap", 200));
    EXPECT_TRUE(running_.frames.empty());
}

TEST_F(TasksTest, WrongSymbolsAreRefused) {
    EXPECT_THROW(tasks_->look(running_, kBase + 2 * kRam, kTable), model::Error);
    put(kPerCpu + 0x80, 0xdead'0000'0000);
    EXPECT_THROW(tasks_->look(running_, kBase + kPerCpu, kTable), model::Error);
}

TEST(FramesTest, TheInnermostAreKept) {
    Frames frames;
    frames.pop();
    EXPECT_TRUE(frames.empty());
    for (std::uint16_t n = 0; n < 20; ++n) {
        frames.push({KernelEntry::system_call, n, 0});
    }
    for (std::uint16_t n = 19; n >= 12; --n) {
        EXPECT_EQ(frames.top().system_call, n);
        frames.pop();
    }
    EXPECT_TRUE(frames.empty());
}

namespace {

using model::ProcessClass;

Classes of(const std::string& text) {
    const std::string path = testing::TempDir() + "classes.toml";
    std::ofstream(path) << text;
    return Classes::load(path);
}

}  // namespace

TEST(Classes, AProcessIsOfTheClassThatNamesIt) {
    const Classes classes = of("session = [\"imap\", \"imap-login\"]\nloadgen = [\"s80-loadgen\"]\n");
    EXPECT_EQ(classes.class_of("imap"), ProcessClass::session);
    EXPECT_EQ(classes.class_of("imap-login"), ProcessClass::session);
    EXPECT_EQ(classes.class_of("s80-loadgen"), ProcessClass::loadgen);
    EXPECT_EQ(classes.class_of("imap-logi"), ProcessClass::other);
    EXPECT_EQ(Classes::load("").class_of("imap"), ProcessClass::other);
}

TEST(Classes, RefusesWhatNobodyCouldCount) {
    EXPECT_THROW(of("kernel = [\"kworker\"]\n"), model::Error) << "told without a name";
    EXPECT_THROW(of("session = [\"imap\"]\ndelivery = [\"imap\"]\n"), model::Error) << "in two classes";
    EXPECT_THROW(of("session = [\"longer-than-the-kernel\"]\n"), model::Error);
    EXPECT_THROW(of("session = \"imap\"\n"), model::Error);
    EXPECT_THROW(of("session = [\"imap\""), model::Error);
    EXPECT_THROW(Classes::load("/dev/null/classes.toml"), model::Error);
}

}  // namespace s80::plugin
