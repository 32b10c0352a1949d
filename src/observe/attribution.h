// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of misses: describes each bus request by its task, address and reason, and by the bytes of the
// line that other cores have written since. Observes the timing merger (`TimingMerger`) and changes nothing.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/core_set.h"
#include "base/host_memory.h"
#include "cache/shadow.h"
#include "coherence/outcome.h"
#include "memory/hierarchy.h"
#include "timing/merger.h"

namespace s80::model {

enum class Request : std::uint8_t { miss, upgrade };
/// Why a core missed. `cold`: it has not held the line since the measured region began. `coherence`: a
/// request of another core invalidated its copy. `conflict`: a fully associative cache of the same size would
/// have held the line. `capacity`: all other misses. `none`: the request is an upgrade, not a miss.
enum class Reason : std::uint8_t { cold, capacity, conflict, coherence, none };
/// Of a coherence miss: whether other cores have written bytes that the core accesses now (true sharing), or
/// only others of the line (false sharing). `none`: another kind of miss.
enum class Sharing : std::uint8_t { none, true_sharing, false_sharing };

/// A line has 16 granules. Bit n of Miss::reads and Miss::writes stands for granule n. Returns the size of a
/// granule in bytes.
constexpr std::uint64_t granule_bytes(std::uint64_t line_bytes) {
    constexpr std::uint64_t kGranules = 16;
    return line_bytes > kGranules ? line_bytes / kGranules : 1;
}

/// Converts a processor's clock to simulated time in ns. `begin_ns`: simulated time at the beginning of the
/// epoch. `clock`: 1/256 cycle since then.
std::uint64_t time_ns(std::uint64_t begin_ns, std::uint64_t clock_hz, std::int64_t clock);

/// What a request was, who made it, and who answered it. A record of the log and a sum of records contain
/// this structure, so it must have no padding.
struct RequestTraits {
    std::uint8_t core = 0;
    std::uint8_t processor = 0;
    Kind kind = Kind::load;
    Request request = Request::miss;
    Source source = Source::memory;
    /// Core that supplied the data; kNobody: none.
    std::uint8_t supplier = kNobody;
    Reason reason = Reason::none;
    Sharing sharing = Sharing::none;
    Context context;
    std::uint8_t size = 0;  ///< size of the access in bytes
};
static_assert(sizeof(RequestTraits) == 10 && alignof(RequestTraits) == 1);

/// One request, as a record of the log (docs/reference/interfaces/miss-log.md).
struct Miss {
    std::uint64_t time_ns = 0;  ///< simulated time
    /// Virtual address of the instruction; of an instruction fetch: of the block.
    std::uint64_t pc = 0;
    std::uint64_t address = 0;   ///< virtual address of the access
    std::uint64_t physical = 0;  ///< physical address of the line's first byte
    std::uint32_t who = 0;       ///< number of the task and its system call (plugin/whos.h)
    CoreSet holders;             ///< the other cores that had a copy
    std::uint16_t reads = 0;     ///< granules that this access reads (bit mask); `writes`: that it writes
    std::uint16_t writes = 0;
    /// Granules that other cores have written since this core lost the line (bit mask).
    std::uint16_t foreign = 0;
    RequestTraits traits;
    std::uint32_t stall = 0;  ///< stall in cycles
    std::uint32_t zero = 0;
};
static_assert(sizeof(Miss) == 64);

class Attribution final : public Observer {
public:
    using Sink = std::function<void(const Miss&)>;

    /// Passes each request between the marks measure_begin and measure_end to `sink`; there may be several
    /// such regions. The streams of the played epochs must have notes. All arguments must outlive this
    /// object.
    Attribution(const Hierarchy& hierarchy, const TimingMerger& merger, Sink sink);

    void begin(const Epoch& epoch) override {
        epoch_ = &epoch;
        begin_ns_ = merger_.clock_ns();
    }
    void event(unsigned processor, const Event& event, std::int64_t clock) override;
    void end(const Epoch& epoch) override;

    void beyond_l1(const Outcome& outcome) override;

    /// Whether a measured region has begun and not ended.
    bool active() const { return active_; }
    /// Number of regions that have begun.
    std::uint64_t regions() const { return regions_; }

private:
    /// A line of which cores have lost their copies to other cores.
    struct Taken {
        CoreSet lost;  ///< the cores that have lost their copies
        /// By core: granules that other cores have written since.
        std::array<std::uint16_t, kMaxCores> foreign{};
    };
    /// Which cores have to do with one line.
    struct Cores {
        CoreSet ever;  ///< cores that have held the line since the region began
        /// Cores whose shadow tags may have the line. The shadow tags of all others lack it.
        CoreSet shadowed;
    };
    void start();
    bool touch_shadow(unsigned core, Line line) {
        cores_[line].shadowed.add(core);
        return shadows_[core].touch(line);
    }
    void lost(unsigned agent, Line line, std::uint16_t writes, unsigned to);
    void lost(unsigned core, Line line, std::uint16_t writes);
    void missed(unsigned core, Line line, bool in_shadow, Miss miss);
    void stored(unsigned core, Line line);
    Miss request(unsigned core, const Outcome& outcome) const;

    const Hierarchy& hierarchy_;
    const TimingMerger& merger_;
    const Sink sink_;
    bool active_ = false;
    std::uint64_t regions_ = 0;
    const Epoch* epoch_ = nullptr;
    std::uint64_t begin_ns_ = 0;  ///< simulated time at the beginning of the epoch

    // The access that is being played:
    const Event* event_ = nullptr;
    const Note* note_ = nullptr;
    unsigned processor_ = 0;
    std::int64_t clock_ = 0;

    HostMemory number_memory_;
    HostMemory cores_memory_;
    std::uint32_t* numbers_;  ///< by line: index into taken_; 0: no core has lost the line
    Cores* cores_;            ///< by line
    std::vector<Taken> taken_;
    std::vector<Shadow> shadows_;  ///< shadow tags of each core: a fully associative cache of the same size
};

}  // namespace s80::model
