// SPDX-License-Identifier: GPL-2.0-or-later
// Events of processes of a made-up kernel, in a RAM of a few pages with page tables of its own.
#include "plugin/mappings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/small_machine.h"

namespace s80::plugin {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kRam = 32 * kPage;
constexpr std::uint64_t kBase = 0xffff'8880'0000'0000;
constexpr std::uint64_t kTable = kPage;
constexpr std::uint64_t kPerCpu = 8 * kPage;
// Structures of the kernel, by their offsets in the RAM.
constexpr std::uint64_t kTask = 9 * kPage;
constexpr std::uint64_t kArea = 10 * kPage;
constexpr std::uint64_t kMm = 11 * kPage;
constexpr std::uint64_t kFile = 12 * kPage;
constexpr std::uint64_t kInode = 13 * kPage;
constexpr std::uint64_t kMounts = 14 * kPage;
constexpr std::uint64_t kEntries = 15 * kPage;
constexpr std::uint64_t kNames = 16 * kPage;

const char* const kLayout =
    "kernel_version 6.1\nper_cpu.current_task 0\n"
    "task_struct.comm 0\ntask_struct.pid 16\ntask_struct.tgid 20\ntask_struct.flags 24\n"
    "task_struct.exit_code 28\ntask_struct.thread.sp 32\ntask_struct.thread.fsbase 40\nfork_frame.regs "
    "8\npt_regs.sp 16\n"
    "vm_area_struct.vm_start 0\nvm_area_struct.vm_end 8\nvm_area_struct.vm_mm 16\n"
    "vm_area_struct.vm_flags 24\nvm_area_struct.vm_pgoff 32\nvm_area_struct.vm_file 40\n"
    "vm_area_struct.vm_ops 48\nvm_area_struct.vm_private_data 56\n"
    "mm_struct.start_stack 0\nmm_struct.start_brk 8\nmm_struct.brk 16\n"
    "file.f_path 8\nfile.f_inode 24\ninode.i_ino 8\npath.mnt 0\npath.dentry 8\n"
    "dentry.d_parent 0\ndentry.d_name 8\nqstr.name 8\nmount.mnt 16\nmount.mnt_parent 0\n"
    "mount.mnt_mountpoint 8\nvfsmount.mnt_root 0\nvm_special_mapping.name 0\n"
    "symbol.special_mapping_vmops 0x5000\nsymbol.perf_event_mmap 0x1000\nsymbol.copy_vma 0x1100\n"
    "symbol.perf_event_fork 0x1200\nsymbol.perf_event_exec 0x1300\nsymbol.perf_event_comm 0x1400\n"
    "symbol.perf_event_exit_task 0x1500\n";

class MappingsTest : public model::SmallMachine {
protected:
    MappingsTest() : ram_path_(testing::TempDir() + "mappings-ram.img"), ram_(ram_path_, 0), merger_(h) {
        const int file = open(ram_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
        EXPECT_EQ(ftruncate(file, kRam), 0);
        bytes_ = static_cast<std::uint8_t*>(mmap(nullptr, kRam, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
        for (unsigned level = 0; level < 3; ++level) {
            put(kTable + level * kPage + (kBase >> (39 - 9 * level) & 511) * 8,
                (kTable + (level + 1) * kPage) | 1);
        }
        for (std::uint64_t page = 0; page < kRam / kPage; ++page) {
            put(kTable + 3 * kPage + page * 8, (page * kPage) | 1);
        }
        put(kPerCpu, kBase + kTask);
        text(kTask, "prog");
        put(kTask + 16, 7 | std::uint64_t{6} << 32);
        put(kArea, 0x400000);
        put(kArea + 8, 0x402000);
        put(kArea + 16, kBase + kMm);
        put(kArea + 24, 1 | 4);
        std::ofstream(layout_) << kLayout;
    }
    ~MappingsTest() override {
        munmap(bytes_, kRam);
        std::filesystem::remove(path_);
    }

    void put(std::uint64_t at, std::uint64_t value) { std::memcpy(bytes_ + at, &value, sizeof value); }
    void text(std::uint64_t at, const char* value) {
        std::strcpy(reinterpret_cast<char*>(bytes_ + at), value);
    }
    /// Directory entry `n` below entry `parent`.
    void entry(unsigned n, unsigned parent, const char* name) {
        put(kEntries + n * 32, kBase + kEntries + parent * 32);
        put(kEntries + n * 32 + 16, kBase + kNames + n * 32);
        text(kNames + n * 32, name);
    }
    void mount(unsigned n, unsigned parent, unsigned point, unsigned root) {
        put(kMounts + n * 32, kBase + kMounts + parent * 32);
        put(kMounts + n * 32 + 8, kBase + kEntries + point * 32);
        put(kMounts + n * 32 + 16, kBase + kEntries + root * 32);
    }
    static Mappings::Call call(std::uint64_t argument) { return {kTable, kBase + kPerCpu, kBase + argument}; }
    Mappings& open_file() { return mappings_.emplace(path_, layout_, ram_); }
    void play(const std::vector<model::Event>& events) {
        model::Epoch epoch(3);
        epoch.streams[0].events = events;
        epoch.streams[0].size = events.size();
        epoch.streams[0].ran = epoch.streams[0].runs_on = true;
        merger_.play(epoch);
    }
    std::string written() {
        mappings_->finish();
        std::ifstream stream(path_);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    std::string refusal() {
        try {
            open_file();
        } catch (const model::Error& e) {
            return e.what();
        }
        return "accepted";
    }

    const std::string path_ = testing::TempDir() + "mappings.jsonl";
    const std::string layout_ = testing::TempDir() + "mappings-kernel.txt";
    std::string ram_path_;
    GuestRam ram_;
    std::uint8_t* bytes_ = nullptr;
    model::TimingMerger merger_;
    std::optional<Mappings> mappings_;
};

}  // namespace

TEST_F(MappingsTest, KernelWithoutAFunctionIsRefused) {
    std::string layout = kLayout;
    layout.erase(layout.find("symbol.copy_vma"), std::string("symbol.copy_vma 0x1100\n").size());
    std::ofstream(layout_) << layout;
    EXPECT_EQ(refusal(), layout_ +
                             ": the kernel has no symbol copy_vma, which the plugin argument mappings "
                             "needs: use a supported kernel");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
}

TEST_F(MappingsTest, FileHasItsPathOverMountPoints) {
    entry(0, 0, "/");
    entry(1, 0, "mnt");
    entry(2, 2, "/");  // the root of the file system that is mounted on /mnt
    entry(3, 2, "d\xc3\xa4");
    entry(4, 3, "a\"b");
    mount(0, 0, 0, 0);
    mount(1, 0, 1, 2);
    put(kArea + 32, 3);
    put(kArea + 40, kBase + kFile);
    put(kFile + 8, kBase + kMounts + 32 + 16);
    put(kFile + 16, kBase + kEntries + 4 * 32);
    put(kFile + 24, kBase + kInode);
    put(kInode + 8, 99);
    open_file().observe(merger_, h.machine());
    mappings_->called(*mappings_->hook_at(0x1000), call(kArea), {1, std::nullopt, 0});
    play({});
    EXPECT_EQ(written(),
              "{\"ns\":0,\"event\":\"mmap\",\"tgid\":6,\"pid\":7,\"comm\":\"prog\",\"begin\":4194304,"
              "\"end\":4202496,\"offset\":12288,\"flags\":\"r-xp\","
              "\"path\":\"/mnt/d\\u00c3\\u00a4/a\\u0022b\",\"inode\":99}\n");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
}

TEST_F(MappingsTest, EventHasTheTimeOfTheNextAccess) {
    constexpr std::uint16_t kInstructions = 100;
    open_file().observe(merger_, h.machine());
    put(kMm + 8, 0x400000);
    put(kMm + 16, 0x400000);
    mappings_->called(*mappings_->hook_at(0x1000), call(kArea), {2, 0, 1});
    mappings_->called(*mappings_->hook_at(0x1300), call(0), {2, 0, 2});
    play({model::Event{X, 1, 0, model::Op::load, 0, user}});
    const std::uint64_t before = merger_.clock_ns();
    play({model::Event{X, kInstructions, 0, model::Op::load, 0, user},
          model::Event{X, kInstructions, 0, model::Op::load, 0, user}});
    const std::string lines = written();
    EXPECT_NE(lines.find("{\"ns\":" + std::to_string(before + 2 * kInstructions) + ",\"event\":\"mmap\""),
              std::string::npos)
        << lines;
    EXPECT_NE(lines.find("\"name\":\"[heap]\""), std::string::npos) << lines;
    EXPECT_NE(lines.find("{\"ns\":" + std::to_string(merger_.clock_ns()) + ",\"event\":\"exec\""),
              std::string::npos)
        << lines << " no access follows in this epoch";
}

TEST_F(MappingsTest, KernelThreadsAreLeftOut) {
    put(kTask + 24, 0x0020'0000);
    open_file().observe(merger_, h.machine());
    mappings_->called(*mappings_->hook_at(0x1500), call(kTask), {1, std::nullopt, 0});
    play({});
    EXPECT_EQ(written(), "");
    EXPECT_FALSE(mappings_->hook_at(0x1001));
}

}  // namespace s80::plugin
