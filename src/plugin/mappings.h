// SPDX-License-Identifier: GPL-2.0-or-later
// Writes which memory each process of the guest maps, and when (docs/reference/interfaces/mappings.md). The
// kernel calls a function for each such event, for `perf record`; the plugin reads the event's data there.
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
    /// The registers at the first instruction of a kernel function.
    struct Call {
        std::uint64_t table = 0;    ///< top page table
        std::uint64_t per_cpu = 0;  ///< the processor's per-CPU area
        std::uint64_t rdi = 0;
        std::uint64_t rsi = 0;
        std::uint64_t rdx = 0;
        std::uint64_t rcx = 0;
        std::uint64_t fs_base = 0;  ///< end of the running task's thread-local data
    };
    /// A position in the streams: something happened before this event.
    struct Place {
        std::uint64_t epoch = 0;            ///< number, from 1
        std::optional<unsigned> processor;  ///< nothing: the processor is not bound yet
        std::size_t position = 0;
    };

    /// `kernel`: the kernel layout. Throws model::Error if the file cannot be created, or if the kernel lacks
    /// a function.
    Mappings(const std::string& path, const std::string& kernel, GuestRam& ram);

    static constexpr std::uint64_t kMostObjects = 1'000'000;

    /// The event that a call of the kernel function at this address reports; nothing for other addresses.
    std::optional<Hook> hook_at(std::uint64_t address) const {
        const auto it = hooks_.find(address);
        return it == hooks_.end() ? std::nullopt : std::optional(it->second);
    }
    /// The kernel calls such a function: records the event. Leaves out events of kernel threads.
    void called(Hook hook, const Call& call, const Place& place);
    /// A process has an object from its allocator. Beyond kMostObjects, objects are left out.
    void allocated(std::uint32_t tgid, const Allocations::Object& object, const Place& place);

    /// Observes `merger`: the epochs that it plays give the events their times.
    void observe(model::TimingMerger& merger, const model::Machine& machine);
    void begin(const model::Epoch& epoch) override;
    void event(unsigned processor, const model::Event& event, std::int64_t clock) override;
    void end(const model::Epoch& epoch) override;
    /// All epochs have been played: gives the file its name. Throws model::Error.
    void finish();

private:
    struct Event {
        Place place;
        std::string text;
        std::uint64_t ns = 0;
    };
    /// The guest's memory as one processor sees it. An address that is not mapped reads as 0.
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

    std::map<std::string, std::uint64_t> values_;  ///< of the kernel layout
    std::map<std::uint64_t, Hook> hooks_;
    GuestRam& ram_;
    std::optional<model::PartialFile> file_;  ///< created after the constructor has checked the kernel
    const model::TimingMerger* merger_ = nullptr;
    std::uint64_t clock_hz_ = 1;

    std::mutex mutex_;  ///< protects events_: one thread records, another one plays
    std::uint64_t objects_ = 0;
    std::deque<Event> events_;  ///< in the order in which they happened
    // Of the playing side.
    std::uint64_t epoch_ = 0;
    const model::Epoch* played_ = nullptr;
    std::size_t taken_ = 0;  ///< how many of events_ were before the epoch that is played, or in it
    std::size_t waiting_ = 0;
    std::vector<std::deque<Event*>> waiting_on_;  ///< by processor: events without a time
};

}  // namespace s80::plugin
