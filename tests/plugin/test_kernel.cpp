// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/kernel.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

namespace s80::plugin {

namespace {

using model::KernelEntry;

constexpr const char* kText =
    "kernel_version 6.1.0-0-test\n"
    "per_cpu.current_task 0x1fb80\n"
    "task_struct.comm 2976\n"
    "task_struct.pid 2416\n"
    "task_struct.tgid 2420\n"
    "task_struct.flags 44\n"
    "task_struct.stack 32\n"
    "symbol.entry_SYSCALL_64 0xffffffff81c00080\n"
    "symbol.asm_exc_page_fault 0xffffffff81c00b10\n"
    "symbol.asm_sysvec_apic_timer_interrupt 0xffffffff81c00eb0\n"
    "symbol.asm_sysvec_call_function 0xffffffff81c00f70\n"
    "symbol.asm_common_interrupt 0xffffffff81c00e00\n"
    "symbol.__do_softirq 0xffffffff81e00000\n";

std::string written(const std::string& text) {
    const std::string path = testing::TempDir() + "kernel.txt";
    std::ofstream(path) << text;
    return path;
}

bool switches(std::vector<std::uint8_t> bytes, std::uint64_t address = 0) {
    return Kernel::load(written(kText)).switches_task(bytes.data(), bytes.size(), address);
}

}  // namespace

TEST(Kernel, EntriesAreToldByTheirSymbols) {
    const Kernel kernel = Kernel::load(written(kText));
    EXPECT_EQ(kernel.current_task, 0x1fb80U);
    EXPECT_EQ(kernel.comm, 2976U);
    EXPECT_EQ(kernel.entered_at(0xffffffff81c00080), KernelEntry::system_call);
    EXPECT_EQ(kernel.entered_at(0xffffffff81c00b10), KernelEntry::fault);
    EXPECT_EQ(kernel.entered_at(0xffffffff81c00eb0), KernelEntry::tick);
    EXPECT_EQ(kernel.entered_at(0xffffffff81c00f70), KernelEntry::interrupt);
    EXPECT_EQ(kernel.entered_at(0xffffffff81c00e00), KernelEntry::interrupt);
    EXPECT_EQ(kernel.entered_at(0xffffffff81e00000), KernelEntry::soft_interrupt);
    EXPECT_EQ(kernel.entered_at(0xffffffff81c00081), KernelEntry::user) << "no entry";
}

TEST(Kernel, CopiesAndModulesAreToldByWhereTheyLie) {
    const Kernel kernel = Kernel::load(
        written(kText + std::string("memcpy.begin 0xffffffff819fd520\nmemcpy.end 0xffffffff819fd6b0\n"
                                    "symbol._end 0xffffffff82a00000\n")));
    EXPECT_TRUE(kernel.copies(0xffffffff819fd520));
    EXPECT_TRUE(kernel.copies(0xffffffff819fd6af));
    EXPECT_FALSE(kernel.copies(0xffffffff819fd51f));
    EXPECT_FALSE(kernel.copies(0xffffffff819fd6b0));
    EXPECT_TRUE(kernel.in_module(0xffffffffc0001000));
    EXPECT_FALSE(kernel.in_module(0xffffffff81c00080));
    EXPECT_FALSE(kernel.in_module(0xffffffffff600000)) << "vsyscall";
    EXPECT_FALSE(Kernel::load(written(kText)).copies(0xffffffff819fd520)) << "nobody told";
}

TEST(Kernel, SoftInterruptsAreHandledWhereTheNewerKernelsDo) {
    const Kernel kernel =
        Kernel::load(written(kText + std::string("symbol.handle_softirqs 0xffffffff8109c450\n")));
    EXPECT_EQ(kernel.entered_at(0xffffffff8109c450), KernelEntry::soft_interrupt);
    EXPECT_TRUE(kernel.may_end_soft_interrupts(0xffffffff8109c607));
    EXPECT_FALSE(kernel.may_end_soft_interrupts(0xffffffff8109c44f));
}

TEST(Kernel, ATaskSwitchIsAStoreToTheCurrentTask) {
    EXPECT_TRUE(switches({0x65, 0x48, 0x89, 0x1d, 0x14, 0x08, 0xff, 0x7e}, 0xffffffff8102f364)) << "to %rip";
    EXPECT_TRUE(switches({0x65, 0x48, 0x89, 0x34, 0x25, 0x80, 0xfb, 0x01, 0x00})) << "mov %rsi,%gs:0x1fb80";
    EXPECT_TRUE(switches({0x65, 0x4c, 0x89, 0x24, 0x25, 0x80, 0xfb, 0x01, 0x00})) << "mov %r12,%gs:0x1fb80";
    EXPECT_FALSE(switches({0x65, 0x48, 0x8b, 0x04, 0x25, 0x80, 0xfb, 0x01, 0x00})) << "a load";
    EXPECT_FALSE(switches({0x65, 0x48, 0x89, 0x05, 0xd2, 0x07, 0xff, 0x7e}, 0xffffffff8102f376))
        << "elsewhere";
    EXPECT_FALSE(switches({0x48, 0x89, 0x34, 0x25, 0x80, 0xfb, 0x01, 0x00})) << "not per CPU";
}

TEST(Kernel, SaysWhatIsMissing) {
    std::string text = kText;
    text.erase(text.find("task_struct.pid"), std::string("task_struct.pid 2416\n").size());
    try {
        Kernel::load(written(text));
        FAIL() << "it has no pid";
    } catch (const model::Error& error) {
        EXPECT_NE(std::string(error.what()).find("task_struct.pid of the guest's kernel is missing"),
                  std::string::npos);
    }
    EXPECT_THROW(Kernel::load(written("task_struct.comm many\n")), model::Error);
    EXPECT_THROW(Kernel::load("/dev/null/kernel.txt"), model::Error);
}

}  // namespace s80::plugin
