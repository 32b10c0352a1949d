// SPDX-License-Identifier: GPL-2.0-or-later
// Records which memory each process of the guest maps, and when (docs/reference/interfaces/mappings.md). For
// `perf record`, the kernel calls a function at each such event. The plugin watches the calls of these
// functions, and reads the data of the event from the arguments and from the kernel's memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/partial_file.h"
#include "plugin/allocations.h"
#include "plugin/guest_ram.h"
#include "plugin/page_walk.h"
#include "timing/merger.h"

namespace s80::plugin {

class Mappings final : public model::Observer {
public:
    enum class Hook : std::uint8_t { mmap, move, fork, exec, comm, exit };
    /// Registers at the first instruction of such a function of the kernel.
    struct Call {
        std::uint64_t table = 0;    ///< physical address of the top page table (CR3)
        std::uint64_t per_cpu = 0;  ///< address of the processor's per-CPU area
        std::uint64_t rdi = 0;
        std::uint64_t rsi = 0;
        std::uint64_t rdx = 0;
        std::uint64_t rcx = 0;
        std::uint64_t fs_base = 0;  ///< FS base: end of the running task's thread-local data
    };
    /// When something happened: before the event at `position` of the processor's stream, in this epoch.
    struct Place {
        std::uint64_t epoch = 0;            ///< number of the epoch, from 1
        std::optional<unsigned> processor;  ///< of the stream; nothing: the vCPU is not bound yet
        std::size_t position = 0;
    };

    /// `path`: file to write. `kernel`: file with the kernel layout. Throws model::Error if the file cannot
    /// be created, or if the kernel lacks one of the functions.
    Mappings(const std::string& path, const std::string& kernel, GuestRam& ram);

    static constexpr std::uint64_t kMostObjects = 1'000'000;

    /// The event that the kernel reports by a call of the function at this address; nothing if no such
    /// function begins there.
    std::optional<Hook> hook_at(std::uint64_t address) const {
        const auto it = hooks_.find(address);
        return it == hooks_.end() ? std::nullopt : std::optional(it->second);
    }
    /// The kernel calls such a function: records the event, if it is not one of a kernel thread.
    void called(Hook hook, const Call& call, const Place& place);
    /// A process has got an object from its allocator: records it. After kMostObjects, further objects are
    /// left out.
    void allocated(std::uint32_t tgid, const Allocations::Object& object, const Place& place);

    /// Observes `merger`, so that each recorded event gets its simulated time when the timing merger reaches
    /// its place.
    void observe(model::TimingMerger& merger, const model::Machine& machine);
    void begin(const model::Epoch& epoch) override;
    void event(unsigned processor, const model::Event& event, std::int64_t clock) override;
    void end(const model::Epoch& epoch) override;
    /// Call it after all epochs have been played: completes the file. Throws model::Error.
    void finish();

private:
    struct Event {
        Place place;
        std::string text;
        std::uint64_t ns = 0;
    };
    /// The guest's memory in the address space of `table`. An address that is not mapped reads as 0.
    struct Memory {
        GuestRam& ram;
        std::uint64_t table;
        template <class T>
        T read(std::uint64_t address) const {
            return read_virtual<T>(ram, table, address).value_or(T{});
        }
        std::uint64_t word(std::uint64_t address) const { return read<std::uint64_t>(address); }
        std::string text(std::uint64_t address) const;
    };
    struct Task {
        std::uint32_t tgid = 0;
        std::uint32_t pid = 0;
        std::string name;
        bool kernel = false;
    };
    Task task(const Memory& memory, std::uint64_t address) const;
    std::uint64_t offset(const char* key) const { return values_.at(key); }
    std::string details(Hook hook, const Memory& memory, const Call& call, const Task& current) const;
    std::string mapping(const Memory& memory, std::uint64_t vma) const;
    std::string moved(const Memory& memory, const Call& call) const;
    std::string area(const Memory& memory, std::uint64_t vma, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t page) const;
    std::string name_of(const Memory& memory, std::uint64_t vma, std::uint64_t begin,
                        std::uint64_t end) const;
    std::string path_of(const Memory& memory, std::uint64_t file) const;
    [[noreturn]] void fail() const;
    void write_stamped();

    std::map<std::string, std::uint64_t> values_;  ///< contents of the kernel layout file, by name
    std::map<std::uint64_t, Hook> hooks_;
    GuestRam& ram_;
    std::optional<model::PartialFile> file_;  ///< created after the constructor has checked the kernel layout
    const model::TimingMerger* merger_ = nullptr;
    std::uint64_t clock_hz_ = 1;

    std::mutex mutex_;  ///< protects events_: one thread appends events, another one writes them
    std::uint64_t objects_ = 0;
    std::deque<Event> events_;  ///< recorded events that are not written yet, the oldest first
    // --- used by the thread of the timing merger ---
    std::uint64_t epoch_ = 0;
    const model::Epoch* played_ = nullptr;
    /// Number of events at the front of events_ that belong to the played epoch or an earlier one.
    std::size_t taken_ = 0;
    std::size_t waiting_ = 0;
    /// By processor: events of the played epoch that have no time yet.
    std::vector<std::deque<Event*>> waiting_on_;
};

}  // namespace s80::plugin
