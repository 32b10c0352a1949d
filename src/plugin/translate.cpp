// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/translate.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "plugin/block.h"
#include "plugin/decode.h"
#include "plugin/fatal.h"
#include "plugin/markers.h"
#include "plugin/recorder.h"

namespace s80::plugin {

namespace {

using model::Kind;

/// For the callbacks of accesses: log2 of the line size, and the mask of an address's offset in its line. Set
/// when QEMU translates the first block.
unsigned line_shift = 0;
std::uint64_t line_mask = 0;

/// Data of the blocks that do not fit into a word, and of those that fit but need an address. A deque does
/// not move its elements, to which callbacks have pointers.
std::deque<Block> large_blocks;
std::deque<NamedBlock> named_blocks;
/// The instructions that access memory, if misses are attributed or memcpy is watched.
std::deque<Site> sites;

/// The rare part of on_access, which calls it last, so that on_access need not save registers.
template <Kind kind>
[[gnu::noinline]] void record_access(Vcpu& vcpu, qemu_plugin_meminfo_t info, std::uint64_t address,
                                     bool crosses) noexcept {
    guarded([&] { recorder().accesses().load_or_store(vcpu, info, address, kind, crosses); });
}

/// Callback of an access. `size_less_one`: upper bound for the size of the access in bytes, minus one. If the
/// access is smaller, the check whether it crosses a line may be in vain.
template <Kind kind>
void on_access(unsigned, qemu_plugin_meminfo_t info, std::uint64_t address, void* size_less_one) {
    Vcpu& vcpu = *running_vcpu;
    ++vcpu.counts.accesses[static_cast<unsigned>(kind)];
    const std::uint64_t line = address >> line_shift;
    const auto& filter = kind == Kind::load ? vcpu.filter.loads : vcpu.filter.stores;
    const bool crosses = (address & line_mask) + reinterpret_cast<std::uintptr_t>(size_less_one) > line_mask;
    if (filter[line % kFilterEntries] == vcpu.filter.key(line) && !crosses) [[likely]] {
        return;
    }
    record_access<kind>(vcpu, info, address, crosses);
}

/// Callback of an access if misses are attributed. Most accesses are merged into the note of an earlier
/// event; these do not read their Site, which is rarely in the host's cache.
template <Kind kind>
void on_noted_access(unsigned, qemu_plugin_meminfo_t info, std::uint64_t address, void* site) {
    Vcpu& vcpu = *running_vcpu;
    ++vcpu.counts.accesses[static_cast<unsigned>(kind)];
    const std::uint64_t bytes = std::uint64_t{1} << qemu_plugin_mem_size_shift(info);
    const bool crosses = (address & line_mask) + bytes - 1 > line_mask;
    if (vcpu.filter.holds(address >> line_shift, kind) && !crosses) [[likely]] {
        recorder().accesses().note_again(vcpu, address, bytes, kind);
        return;
    }
    guarded([&] {
        recorder().accesses().noted_access(vcpu, *static_cast<const Site*>(site), info, address, kind);
    });
}

/// Callback of an access in memcpy. The memcpy may count as a device's access.
template <Kind kind>
void on_copy_access(unsigned processor, qemu_plugin_meminfo_t info, std::uint64_t address, void* data) {
    if (running_vcpu->device.copies) {
        guarded([&] { recorder().accesses().device_access(*running_vcpu, info, address, kind); });
    } else if (recorder().notes()) {
        on_noted_access<kind>(processor, info, address, data);
    } else {
        const Site& site = *static_cast<const Site*>(data);
        on_access<kind>(processor, info, address,
                        reinterpret_cast<void*>(static_cast<std::uintptr_t>(site.bytes_less_one)));
    }
}
void on_copy(unsigned, void*) {
    recorder().accesses().copy_begins(*running_vcpu);
}
void on_module(unsigned, void*) {
    running_vcpu->device.module_at = running_vcpu->instructions;
}

void on_translation_change(unsigned, void*) {
    recorder().accesses().translation_changed(*running_vcpu);
}
void on_halt(unsigned, void*) {
    guarded([] { recorder().halted(*running_vcpu); });
}
void on_pause(unsigned, void*) {
    guarded([] { recorder().paused(*running_vcpu); });
}

void on_clock(unsigned, void*) {
    recorder().clock_read(*running_vcpu);
}

void on_task_switch(unsigned, void*) {
    recorder().contexts().task_switched(*running_vcpu);
}
void on_interrupt_return(unsigned, void*) {
    recorder().contexts().interrupt_returns(*running_vcpu);
}
void on_process_change(unsigned, void* hook) {
    guarded([hook] {
        recorder().process_changes(static_cast<Mappings::Hook>(reinterpret_cast<std::uintptr_t>(hook)));
    });
}
void on_return(unsigned, void*) {
    guarded([] { recorder().contexts().soft_interrupts_may_end(*running_vcpu); });
}

void on_allocation_begin(unsigned, void* size) {
    guarded([size] {
        recorder().processes().allocation_begins(
            static_cast<Allocations::Size>(reinterpret_cast<std::uintptr_t>(size)));
    });
}
void on_allocation_end(unsigned, void*) {
    guarded([] { recorder().allocation_ends(); });
}

template <qemu_plugin_vcpu_mem_cb_t load, qemu_plugin_vcpu_mem_cb_t store>
void watch_accesses(qemu_plugin_insn* insn, void* data) {
    qemu_plugin_register_vcpu_mem_cb(insn, load, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R, data);
    qemu_plugin_register_vcpu_mem_cb(insn, store, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, data);
}

/// Adds the callbacks that this instruction needs. `copies`: it belongs to a memcpy, which may count as a
/// device's access.
void watch(qemu_plugin_insn* insn, const Decoded& d, bool copies) {
    const auto on = [insn](qemu_plugin_vcpu_udata_cb_t callback) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    };
    if (d.touches_memory && (copies || recorder().notes())) {
        Site* site = &sites.emplace_back(Site{qemu_plugin_insn_vaddr(insn), d.access_bytes - 1});
        if (copies) {
            watch_accesses<on_copy_access<Kind::load>, on_copy_access<Kind::store>>(insn, site);
        } else {
            watch_accesses<on_noted_access<Kind::load>, on_noted_access<Kind::store>>(insn, site);
        }
    } else if (d.touches_memory) {
        auto* size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(d.access_bytes - 1));
        watch_accesses<on_access<Kind::load>, on_access<Kind::store>>(insn, size);
    }
    if (d.changes_translation) {
        on(on_translation_change);
    }
    if (d.halts) {
        on(on_halt);
    }
    if (d.pauses) {
        on(on_pause);
    }
    if (d.reads_clock) {
        on(on_clock);
    }
    if (d.marker != 0) {
        watch_marker(insn, d.marker);
    }
}

/// Adds the callbacks that find out which task the kernel runs, and how the task entered the kernel.
void watch_kernel(qemu_plugin_insn* insn, const Decoded& d, const Kernel& kernel, const std::uint8_t* bytes,
                  std::size_t size) {
    const std::uint64_t address = qemu_plugin_insn_vaddr(insn);
    if (kernel.switches_task(bytes, size, address)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_task_switch, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    } else if (d.returns_interrupt) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_interrupt_return, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    } else if (d.returns && kernel.may_end_soft_interrupts(address)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, QEMU_PLUGIN_CB_R_REGS, nullptr);
    }
    const Mappings* mappings = recorder().processes().mappings();
    if (const auto hook = mappings != nullptr ? mappings->hook_at(address) : std::nullopt) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_process_change, QEMU_PLUGIN_CB_R_REGS,
                                               reinterpret_cast<void*>(static_cast<std::uintptr_t>(*hook)));
    }
}

/// Adds the callbacks that find out whether a kernel module, such as the disk's driver, called memcpy.
/// `last`: the instruction is the last one of its block.
void watch_copies(qemu_plugin_insn* insn, const Kernel& kernel, bool last) {
    const std::uint64_t address = qemu_plugin_insn_vaddr(insn);
    if (address == kernel.copy_begin) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_copy, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    } else if (last && kernel.in_module(address)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_module, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    }
}

void watch_allocations(qemu_plugin_insn* insn, std::uint64_t physical) {
    const Allocations& allocations = recorder().processes().allocations();
    if (const auto size = allocations.entry_at(physical)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_allocation_begin, QEMU_PLUGIN_CB_R_REGS,
                                               reinterpret_cast<void*>(static_cast<std::uintptr_t>(*size)));
    }
    if (allocations.returns_to(physical)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_allocation_end, QEMU_PLUGIN_CB_R_REGS, nullptr);
    }
}

/// Adds the lines of an instruction to the lines of its block. They form at most two runs of consecutive
/// lines, one for each page.
void add_lines(Block& block, std::uint64_t physical, std::size_t size) {
    // Leaves out bytes of the instruction on a second page: they have another physical address. The next
    // instruction adds their line.
    size = std::min<std::size_t>(size, kPageMask + 1 - (physical & kPageMask));
    const auto first = static_cast<model::Line>(physical >> line_shift);
    const auto last = static_cast<model::Line>((physical + size - 1) >> line_shift);
    for (model::Line line = first; line <= last; ++line) {
        const unsigned run = block.lines[1] != 0 ? 1 : 0;
        if (block.lines[run] != 0 && line >= block.first[run] &&
            line <= block.first[run] + block.lines[run]) {
            block.lines[run] = static_cast<std::uint8_t>(
                std::max<model::Line>(block.lines[run], line - block.first[run] + 1));
        } else {
            const unsigned fresh = block.lines[0] == 0 ? 0 : 1;
            block.first[fresh] = line;
            block.lines[fresh] = 1;
        }
    }
}

void watch_block(qemu_plugin_tb* tb, const Block& block) {
    const auto watch = [tb](qemu_plugin_vcpu_udata_cb_t entry, BlockWord word) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, entry, QEMU_PLUGIN_CB_NO_REGS, word.word());
    };
    const auto packed = BlockWord::pack(block);
    if (!packed || recorder().profiles()) {
        watch(s80_block_entry, BlockWord::point_to(large_blocks.emplace_back(block)));
    } else if (recorder().addresses()) {
        watch(s80_named_block_entry,
              BlockWord::point_to(named_blocks.emplace_back(NamedBlock{packed->word(), block.address})));
    } else {
        watch(s80_block_entry, *packed);
    }
}

void translate(qemu_plugin_tb* tb) {
    constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
    constexpr std::size_t kLongestInstruction = 16;
    Recorder& r = recorder();
    if (line_shift == 0) {
        r.find_qemu();
    }
    line_shift = r.line_shift();
    line_mask = (std::uint64_t{1} << line_shift) - 1;

    Block block;
    block.instructions = static_cast<std::uint16_t>(qemu_plugin_tb_n_insns(tb));
    block.privilege = (qemu_plugin_tb_vaddr(tb) & kKernelHalf) != 0 ? 1 : 0;
    const Kernel* kernel = r.contexts().kernel();
    if (kernel != nullptr) {
        block.entered = kernel->entered_at(qemu_plugin_tb_vaddr(tb));
    }
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < block.instructions; ++i) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        std::array<std::uint8_t, kLongestInstruction> bytes{};
        const std::size_t size = qemu_plugin_insn_data(insn, bytes.data(), bytes.size());
        const Decoded d = decode(bytes.data(), size);
        ++block.classes[static_cast<unsigned>(d.kind)];
        next = qemu_plugin_insn_vaddr(insn) + size;
        if (const auto physical = r.ram().physical(qemu_plugin_insn_haddr(insn))) {
            add_lines(block, *physical, size);
            r.entry_points().translated(insn, *physical);
            watch_allocations(insn, *physical);
        }
        const bool disks = r.dma() && kernel != nullptr && block.privilege != 0;
        watch(insn, d, disks && kernel->copies(qemu_plugin_insn_vaddr(insn)));
        if (kernel != nullptr && block.privilege != 0) {
            watch_kernel(insn, d, *kernel, bytes.data(), size);
        }
        if (disks) {
            watch_copies(insn, *kernel, i + 1U == block.instructions);
        }
    }
    if (r.addresses()) {
        block.address = qemu_plugin_tb_vaddr(tb);
        block.next = static_cast<std::uint16_t>(next & kPageMask);
    }
    watch_block(tb, block);
}

[[gnu::noinline]] void fetch_line(Vcpu& vcpu, model::Line line) noexcept {
    guarded([&] { recorder().accesses().fetch(vcpu, line); });
}

inline void fetch_lines(Vcpu& vcpu, model::Line first, unsigned count) {
    vcpu.counts.accesses[static_cast<unsigned>(Kind::ifetch)] += count;
    for (model::Line line = first; line != first + count; ++line) {
        if (vcpu.filter.fetches[line % kFilterEntries] != vcpu.filter.key(line)) [[unlikely]] {
            fetch_line(vcpu, line);
        }
    }
}

/// What to do with a block: record it, execute it without recording, or leave it and end the time slice.
enum class Next : std::uint8_t { record, run, leave };

/// Performs the pending checks (Attention, Vcpu::check_at) before a block, and counts its instructions. `id`:
/// BlockWord::id. `entered`: kernel entry cause of its first instruction.
Next begin_block(void* vcpu_state, std::uint64_t id, unsigned privilege, std::uint64_t instructions,
                 model::KernelEntry entered) noexcept {
    if (vcpu_state != running_state) [[unlikely]] {
        if (!guarded([&] { return recorder().enter(vcpu_state); })) {
            return Next::leave;
        }
    }
    Vcpu& vcpu = *running_vcpu;
    vcpu.block_id = id;
    if (vcpu.attention != 0) [[unlikely]] {
        if (!guarded([&] { return recorder().contexts().attend(vcpu); })) {
            return Next::run;
        }
    }
    if (vcpu.instructions >= vcpu.check_at) [[unlikely]] {
        if (!guarded([&] { return recorder().accesses().check(vcpu); })) {
            return Next::leave;
        }
    }
    if (entered != model::KernelEntry::user) {
        guarded([&] { recorder().contexts().kernel_entered(vcpu, entered); });
    }
    const model::Context context = vcpu.contexts[privilege];
    if (context.value != vcpu.context.value) [[unlikely]] {
        recorder().contexts().change(vcpu, context);
    }
    vcpu.instructions += instructions;
    return Next::record;
}

void large_block(const Block& block) {
    Vcpu* const vcpu = running_vcpu;
    for (unsigned i = 0; i < model::kInstructionClasses; ++i) {
        vcpu->counts.classes[i] += block.classes[i];
    }
    vcpu->sampled.block = block.address;
    if (vcpu->sampled.followed != 0) [[unlikely]] {
        recorder().branch_went(*vcpu, block);
    }
    if (block.classes[static_cast<unsigned>(model::InstructionClass::branch_conditional)] != 0 &&
        --vcpu->sampled.branches_left == 0) [[unlikely]] {
        vcpu->sampled.branches_left = Profile::kBranchPeriod;
        vcpu->sampled.followed = block.next + 1U;
        vcpu->sampled.followed_privilege = block.privilege;
    }
    if (vcpu->instructions >= vcpu->sampled.due_at) [[unlikely]] {
        guarded([vcpu] { recorder().sample(*vcpu); });
    }
    for (unsigned run = 0; run < block.lines.size(); ++run) {
        fetch_lines(*vcpu, block.first[run], block.lines[run]);
    }
}

inline void count_classes(Vcpu& vcpu, BlockWord word) {
    using enum model::InstructionClass;
    vcpu.counts.classes[static_cast<unsigned>(load)] += word.loads();
    vcpu.counts.classes[static_cast<unsigned>(store)] += word.stores();
    vcpu.counts.classes[static_cast<unsigned>(load_store)] += word.both();
    vcpu.counts.classes[static_cast<unsigned>(branch_conditional)] += word.conditional();
    vcpu.counts.classes[static_cast<unsigned>(branch_unconditional)] += word.unconditional();
}

/// Records the fetches of a packed block with several lines.
[[gnu::noinline]] void fetch_lines_of(Vcpu& vcpu, BlockWord word) {
    fetch_lines(vcpu, word.line(), 1 + word.extra_lines());
}

/// The common case: this block needs no check, and runs in the same context as the last one.
[[gnu::always_inline]] inline bool only_counts(BlockWord word, const void* vcpu_state) {
    const Vcpu* const vcpu = running_vcpu;  // null before the first block
    return vcpu_state == running_state && word.packed() && vcpu->attention == 0 &&
           vcpu->contexts[word.privilege()].value == vcpu->context.value &&
           vcpu->instructions < vcpu->check_at;
}

/// Counts a block of the common case. Each function that it calls is called last, so that no register must be
/// saved.
[[gnu::always_inline]] inline void count_block(Vcpu& vcpu, BlockWord word) {
    vcpu.block_id = word.id();
    vcpu.instructions += word.instructions();
    count_classes(vcpu, word);
    if (word.extra_lines() != 0) [[unlikely]] {
        fetch_lines_of(vcpu, word);
        return;
    }
    ++vcpu.counts.accesses[static_cast<unsigned>(Kind::ifetch)];
    if (vcpu.filter.fetches[word.line() % kFilterEntries] != vcpu.filter.key(word.line())) {
        fetch_line(vcpu, word.line());
    }
}

/// Counts any block. `address`: virtual address, used if the block is packed. Returns false if the time slice
/// must end before the block.
bool block_executed(BlockWord word, std::uint64_t address, void* vcpu_state) {
    const bool packed = word.packed();
    const Next next = packed ? begin_block(vcpu_state, word.id(), word.privilege(), word.instructions(),
                                           model::KernelEntry::user)
                             : begin_block(vcpu_state, word.id(), word.block().privilege,
                                           word.block().instructions, word.block().entered);
    if (next != Next::record) {
        return next == Next::run;
    }
    if (packed) {
        running_vcpu->sampled.block = address;
        count_classes(*running_vcpu, word);
        fetch_lines(*running_vcpu, word.line(), 1 + word.extra_lines());
    } else {
        large_block(word.block());
    }
    return true;
}

/// Counts a block that is not the common case, or ends the time slice before it.
[[gnu::noinline]] void record_block(BlockWord any, void* vcpu_state, std::uintptr_t return_address) {
    const BlockWord word = any.counts();
    const std::uint64_t address = any.named() ? any.named_block().address : 0;
    if (!block_executed(word, address, vcpu_state)) {
        recorder().leave(word.packed() ? word.instructions() : word.block().instructions, return_address);
    }
}

}  // namespace

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    guarded([tb] { translate(tb); });
}

void on_flush(qemu_plugin_id_t) {
    large_blocks.clear();
    named_blocks.clear();
    sites.clear();
}

}  // namespace s80::plugin

/// Every block begins with a call of this function, or of the next one if the block has an address.
/// `vcpu_state`: QEMU's state of the running vCPU, from vcpu_entry.S. `return_address`: where this callback
/// returns to in the block.
extern "C" __attribute__((visibility("hidden"))) void s80_block_executed(unsigned, void* data,
                                                                         void* vcpu_state,
                                                                         std::uintptr_t return_address) {
    using namespace s80::plugin;
    const BlockWord word(data);
    if (!only_counts(word, vcpu_state)) [[unlikely]] {
        record_block(word, vcpu_state, return_address);
        return;
    }
    count_block(*running_vcpu, word);
}

extern "C" __attribute__((visibility("hidden"))) void s80_named_block_executed(
    unsigned, void* data, void* vcpu_state, std::uintptr_t return_address) {
    using namespace s80::plugin;
    const BlockWord named(data);
    const BlockWord word(named.named_block().word);
    if (!only_counts(word, vcpu_state)) [[unlikely]] {
        record_block(named, vcpu_state, return_address);
        return;
    }
    running_vcpu->sampled.block = named.named_block().address;
    count_block(*running_vcpu, word);
}
