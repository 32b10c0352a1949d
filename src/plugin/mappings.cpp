// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/mappings.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "observe/attribution.h"
#include "plugin/kernel.h"

namespace s80::plugin {

namespace {

constexpr std::size_t kLongestText = 256;
// Largest number of directories and mounts in a path; limits the work if the guest's data are inconsistent.
constexpr unsigned kDeepest = 128;

/// The text as a JSON string. A byte above 126 becomes the character with this number, because a file's name
/// may contain any bytes.
std::string escaped(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\\') {
            std::array<char, 8> code{};
            std::snprintf(code.data(), code.size(), "\\u%04x", byte);
            out += code.data();
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string field(const char* name, std::uint64_t value) {
    return std::string(",\"") + name + "\":" + std::to_string(value);
}

std::string thread_local_data(std::uint64_t end) {
    return end == 0 ? "" : field("tls", end);
}

}  // namespace

Mappings::Mappings(const std::string& path, const std::string& kernel, GuestRam& ram)
    : values_(read_kernel_values(kernel)), ram_(ram) {
    const auto need = [&](const std::string& key, const std::string& what) {
        const auto it = values_.find(key);
        if (it == values_.end()) {
            throw model::Error(kernel + ": the kernel has no " + what +
                               ", which the plugin argument mappings needs: use a supported kernel");
        }
        return it->second;
    };
    for (const auto& [function, hook] :
         {std::pair{"perf_event_mmap", Hook::mmap}, std::pair{"copy_vma", Hook::move},
          std::pair{"perf_event_fork", Hook::fork}, std::pair{"perf_event_exec", Hook::exec},
          std::pair{"perf_event_comm", Hook::comm}, std::pair{"perf_event_exit_task", Hook::exit}}) {
        hooks_[need(std::string("symbol.") + function, std::string("symbol ") + function)] = hook;
    }
    for (const char* member : {"task_struct.comm",
                               "task_struct.pid",
                               "task_struct.tgid",
                               "task_struct.flags",
                               "task_struct.exit_code",
                               "task_struct.thread.sp",
                               "task_struct.thread.fsbase",
                               "vm_area_struct.vm_start",
                               "vm_area_struct.vm_end",
                               "vm_area_struct.vm_mm",
                               "vm_area_struct.vm_flags",
                               "vm_area_struct.vm_pgoff",
                               "vm_area_struct.vm_file",
                               "vm_area_struct.vm_ops",
                               "vm_area_struct.vm_private_data",
                               "mm_struct.start_stack",
                               "mm_struct.start_brk",
                               "mm_struct.brk",
                               "file.f_path",
                               "file.f_inode",
                               "path.mnt",
                               "path.dentry",
                               "dentry.d_parent",
                               "dentry.d_name",
                               "qstr.name",
                               "mount.mnt",
                               "mount.mnt_parent",
                               "mount.mnt_mountpoint",
                               "vfsmount.mnt_root",
                               "inode.i_ino",
                               "vm_special_mapping.name",
                               "fork_frame.regs",
                               "pt_regs.sp"}) {
        need(member, std::string("member ") + member);
    }
    need("per_cpu.current_task", "variable current_task");
    need("symbol.special_mapping_vmops", "symbol special_mapping_vmops");
    if (!file_.emplace(path).created()) {
        fail();
    }
}

void Mappings::fail() const {
    throw model::Error("the file of mappings " + file_->path() +
                       " cannot be written: " + std::strerror(errno));
}

std::string Mappings::Memory::text(std::uint64_t address) const {
    std::string out;
    for (; out.size() < kLongestText; ++address) {
        const char c = read<char>(address);
        if (c == '\0') {
            break;
        }
        out += c;
    }
    return out;
}

Mappings::Task Mappings::task(const Memory& memory, std::uint64_t address) const {
    const auto name = memory.read<std::array<char, 16>>(address + offset("task_struct.comm"));
    return {memory.read<std::uint32_t>(address + offset("task_struct.tgid")),
            memory.read<std::uint32_t>(address + offset("task_struct.pid")),
            std::string(name.data(), strnlen(name.data(), name.size())),
            (memory.read<std::uint32_t>(address + offset("task_struct.flags")) & kPfKernelThread) != 0};
}

void Mappings::called(Hook hook, const Call& call, const Place& place) {
    const Memory memory{ram_, call.table};
    const std::uint64_t current_task = memory.word(call.per_cpu + offset("per_cpu.current_task"));
    const Task current = task(memory, current_task);
    const bool about_argument = hook == Hook::fork || hook == Hook::comm || hook == Hook::exit;
    const Task subject = about_argument ? task(memory, call.rdi) : current;
    if (subject.kernel || subject.pid == 0) {
        return;
    }
    constexpr std::array kNames{"mmap", "mmap", "fork", "exec", "comm", "exit"};
    std::string text = std::string(",\"event\":\"") + kNames[static_cast<std::size_t>(hook)] + '"' +
                       field("tgid", subject.tgid) + field("pid", subject.pid) +
                       ",\"comm\":" + escaped(subject.name) + details(hook, memory, call, current);
    const std::lock_guard lock(mutex_);
    events_.push_back({place, std::move(text)});
}

void Mappings::allocated(std::uint32_t tgid, const Allocations::Object& object, const Place& place) {
    if (++objects_ > kMostObjects) {
        return;
    }
    std::string text = ",\"event\":\"object\"" + field("tgid", tgid) + field("begin", object.begin) +
                       field("size", object.size) + field("caller", object.caller);
    const std::lock_guard lock(mutex_);
    events_.push_back({place, std::move(text)});
}

std::string Mappings::details(Hook hook, const Memory& memory, const Call& call, const Task& current) const {
    switch (hook) {
        case Hook::mmap: return mapping(memory, call.rdi) + thread_local_data(call.fs_base);
        case Hook::move: return moved(memory, call);
        case Hook::exit: {
            const auto status = memory.read<std::uint32_t>(call.rdi + offset("task_struct.exit_code"));
            return field("status", status) + thread_local_data(call.fs_base);
        }
        case Hook::fork: {
            // The saved registers with which the new task will return to user code.
            const std::uint64_t frame = memory.word(call.rdi + offset("task_struct.thread.sp"));
            const Task child = task(memory, call.rdi);
            return field("parent", current.tgid) +
                   (child.tgid == current.tgid ? ",\"thread\":true" : ",\"thread\":false") +
                   field("stack", memory.word(frame + offset("fork_frame.regs") + offset("pt_regs.sp"))) +
                   thread_local_data(memory.word(call.rdi + offset("task_struct.thread.fsbase")));
        }
        default: return "";
    }
}

std::string Mappings::mapping(const Memory& memory, std::uint64_t vma) const {
    return area(memory, vma, memory.word(vma + offset("vm_area_struct.vm_start")),
                memory.word(vma + offset("vm_area_struct.vm_end")),
                memory.word(vma + offset("vm_area_struct.vm_pgoff")));
}

/// For mremap, the kernel moves an area: copy_vma(&area, address, length, page, ...).
std::string Mappings::moved(const Memory& memory, const Call& call) const {
    return area(memory, memory.word(call.rdi), call.rsi, call.rsi + call.rdx, call.rcx);
}

std::string Mappings::area(const Memory& memory, std::uint64_t vma, std::uint64_t begin, std::uint64_t end,
                           std::uint64_t page) const {
    constexpr unsigned kPageBits = 12;
    constexpr std::uint64_t kShared = 8;
    const std::uint64_t flags = memory.word(vma + offset("vm_area_struct.vm_flags"));
    std::string letters;
    for (const auto& [bit, letter] : {std::pair{1U, 'r'}, std::pair{2U, 'w'}, std::pair{4U, 'x'}}) {
        letters += (flags & bit) != 0 ? letter : '-';
    }
    letters += (flags & kShared) != 0 ? 's' : 'p';
    const std::uint64_t file = memory.word(vma + offset("vm_area_struct.vm_file"));
    std::string text = field("begin", begin) + field("end", end) +
                       field("offset", file != 0 ? page << kPageBits : 0) + ",\"flags\":\"" + letters + '"';
    if (file != 0) {
        const std::uint64_t inode = memory.word(file + offset("file.f_inode"));
        return text + ",\"path\":" + escaped(path_of(memory, file)) +
               field("inode", memory.word(inode + offset("inode.i_ino")));
    }
    return text + ",\"name\":" + escaped(name_of(memory, vma, begin, end));
}

/// The name of a mapping without a file, as in /proc/PID/maps.
std::string Mappings::name_of(const Memory& memory, std::uint64_t vma, std::uint64_t begin,
                              std::uint64_t end) const {
    constexpr std::uint64_t kPage = 4096;
    if (memory.word(vma + offset("vm_area_struct.vm_ops")) == offset("symbol.special_mapping_vmops")) {
        const std::uint64_t special = memory.word(vma + offset("vm_area_struct.vm_private_data"));
        return memory.text(memory.word(special + offset("vm_special_mapping.name")));
    }
    const std::uint64_t mm = memory.word(vma + offset("vm_area_struct.vm_mm"));
    const std::uint64_t stack = memory.word(mm + offset("mm_struct.start_stack"));
    const std::uint64_t heap = memory.word(mm + offset("mm_struct.start_brk"));
    // The kernel reports the growth of a heap before it sets the heap's new end.
    const std::uint64_t heap_end = (memory.word(mm + offset("mm_struct.brk")) + kPage - 1) / kPage * kPage;
    if (begin <= heap_end && end > heap) {
        return "[heap]";
    }
    // The kernel sets start_stack after it has mapped the stack.
    constexpr std::uint64_t kGrowsDown = 0x100;
    const bool grows_down = (memory.word(vma + offset("vm_area_struct.vm_flags")) & kGrowsDown) != 0;
    return grows_down || (begin <= stack && stack <= end && stack != 0) ? "[stack]" : "[anon]";
}

/// The path of a file from the guest's root directory. Follows the directories upwards, and at the root of a
/// mounted file system continues at its mount point.
std::string Mappings::path_of(const Memory& memory, std::uint64_t file) const {
    const std::uint64_t path = file + offset("file.f_path");
    std::uint64_t mount = memory.word(path + offset("path.mnt")) - offset("mount.mnt");
    std::uint64_t entry = memory.word(path + offset("path.dentry"));
    std::string out;
    for (unsigned depth = 0; depth < kDeepest && entry != 0; ++depth) {
        if (entry == memory.word(mount + offset("mount.mnt") + offset("vfsmount.mnt_root"))) {
            const std::uint64_t above = memory.word(mount + offset("mount.mnt_parent"));
            if (above == mount || above == 0) {
                break;
            }
            entry = memory.word(mount + offset("mount.mnt_mountpoint"));
            mount = above;
            continue;
        }
        const std::uint64_t name = memory.word(entry + offset("dentry.d_name") + offset("qstr.name"));
        out.insert(0, '/' + memory.text(name));
        const std::uint64_t parent = memory.word(entry + offset("dentry.d_parent"));
        if (parent == entry) {  // the file has no directory, for example one of memfd_create
            break;
        }
        entry = parent;
    }
    return out.empty() ? "/" : out;
}

void Mappings::observe(model::TimingMerger& merger, const model::Machine& machine) {
    merger_ = &merger;
    clock_hz_ = machine.clock_hz;
    waiting_on_.resize(machine.processors);
    merger.observe(*this);
}

void Mappings::begin(const model::Epoch& epoch) {
    played_ = &epoch;
    ++epoch_;
    const std::lock_guard lock(mutex_);
    for (; taken_ < events_.size() && events_[taken_].place.epoch <= epoch_; ++taken_) {
        Event& event = events_[taken_];
        event.ns = merger_->clock_ns();
        if (event.place.processor) {
            waiting_on_[*event.place.processor].push_back(&event);
            ++waiting_;
        }
    }
}

void Mappings::event(unsigned processor, const model::Event& event, std::int64_t clock) {
    if (waiting_ == 0 || waiting_on_[processor].empty()) {
        return;
    }
    std::deque<Event*>& waiting = waiting_on_[processor];
    const auto position = static_cast<std::size_t>(&event - played_->streams[processor].events.data());
    for (; !waiting.empty() && waiting.front()->place.position <= position; --waiting_) {
        waiting.front()->ns = model::time_ns(merger_->clock_ns(), clock_hz_, clock);
        waiting.pop_front();
    }
}

void Mappings::end(const model::Epoch&) {
    for (std::deque<Event*>& waiting : waiting_on_) {
        for (; !waiting.empty(); --waiting_) {
            waiting.front()->ns = merger_->clock_ns();
            waiting.pop_front();
        }
    }
    write_stamped();
}

void Mappings::write_stamped() {
    const std::lock_guard lock(mutex_);
    for (; taken_ != 0; --taken_) {
        const Event& event = events_.front();
        const std::string line = "{\"ns\":" + std::to_string(event.ns) + event.text + "}\n";
        if (!file_->write(line.data(), line.size())) {
            fail();
        }
        events_.pop_front();
    }
}

void Mappings::finish() {
    if (!file_->close() || !file_->take_name()) {
        fail();
    }
}

}  // namespace s80::plugin
