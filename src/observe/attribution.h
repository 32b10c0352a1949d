// SPDX-License-Identifier: GPL-2.0-or-later
// Miss attribution: records each bus request with its task, address, reason, and the bytes of the line that
// other cores have written since. It observes the timing merger (`TimingMerger`) and changes nothing.
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
/// Why a core missed. cold: the core has not held the line since the log began. coherence: another core's
/// request invalidated its copy. conflict: a fully associative cache of the same size would have held the
/// line. capacity: the rest. none: the request is an upgrade.
enum class Reason : std::uint8_t { cold, capacity, conflict, coherence, none };
/// For coherence misses: whether other cores had written the bytes that the core now accesses.
enum class Sharing : std::uint8_t { none, true_sharing, false_sharing };

/// Bytes for which one bit of `reads` and `writes` stands: a sixteenth of a line.
constexpr std::uint64_t granule_bytes(std::uint64_t line_bytes) {
    constexpr std::uint64_t kGranules = 16;
    return line_bytes > kGranules ? line_bytes / kGranules : 1;
}

/// Simulated time of a processor's clock (1/256 cycle since the epoch began). `begin_ns`: when its epoch
/// began.
std::uint64_t time_ns(std::uint64_t begin_ns, std::uint64_t clock_hz, std::int64_t clock);

/// What a request was, who made it, and who answered it. A record of the log and a sum of records contain
/// these bytes without padding.
struct RequestTraits {
    std::uint8_t core = 0;
    std::uint8_t processor = 0;
    Kind kind = Kind::load;
    Request request = Request::miss;
    Source source = Source::memory;
    std::uint8_t supplier = kNobody;
    Reason reason = Reason::none;
    Sharing sharing = Sharing::none;
    Context context;
    std::uint8_t size = 0;  ///< bytes
};
static_assert(sizeof(RequestTraits) == 10 && alignof(RequestTraits) == 1);

/// One request, in the layout of the log (docs/reference/interfaces/miss-log.md).
struct Miss {
    std::uint64_t time_ns = 0;   ///< simulated time
    std::uint64_t pc = 0;        ///< of the instruction, or of its block for an instruction fetch
    std::uint64_t address = 0;   ///< virtual
    std::uint64_t physical = 0;  ///< of the line's first byte
    std::uint32_t who = 0;       ///< number of task and system call (plugin/whos.h)
    CoreSet holders;             ///< sharers: other cores that had a copy
    std::uint16_t reads = 0;     ///< granules that the core accesses now
    std::uint16_t writes = 0;
    std::uint16_t foreign = 0;  ///< granules that other cores wrote since this core lost the line
    RequestTraits traits;
    std::uint32_t stall = 0;  ///< cycles
    std::uint32_t zero = 0;
};
static_assert(sizeof(Miss) == 64);

class Attribution final : public Observer {
public:
    using Sink = std::function<void(const Miss&)>;

    /// Passes the requests of `hierarchy` between the marks measure_begin and measure_end to `sink`. There
    /// may be several such regions. The streams of the epochs must have notes. All arguments must outlive
    /// this object.
    Attribution(const Hierarchy& hierarchy, const TimingMerger& merger, Sink sink);

    void begin(const Epoch& epoch) override {
        epoch_ = &epoch;
        begin_ns_ = merger_.clock_ns();
    }
    void event(unsigned processor, const Event& event, std::int64_t clock) override;
    void end(const Epoch& epoch) override;

    void beyond_l1(const Outcome& outcome) override;

    /// Whether a region has begun and not ended.
    bool active() const { return active_; }
    /// Regions that have begun.
    std::uint64_t regions() const { return regions_; }

private:
    /// A line of which a core lost its copy to another core.
    struct Taken {
        CoreSet lost;                                    ///< cores that lost their copy to another core
        std::array<std::uint16_t, kMaxCores> foreign{};  ///< granules that other cores wrote since
    };
    struct Cores {
        CoreSet ever;  ///< cores that have held a line
        /// Cores whose shadow tags may have it. Those of all others lack it.
        CoreSet shadowed;
    };
    void start();
    bool touch_shadow(unsigned core, Line line) {
        cores_[line].shadowed.add(core);
        return shadows_[core].touch(line);
    }
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
    std::uint64_t begin_ns_ = 0;  ///< of the epoch

    // The access in progress.
    const Event* event_ = nullptr;
    const Note* note_ = nullptr;
    unsigned processor_ = 0;
    std::int64_t clock_ = 0;

    HostMemory number_memory_;
    HostMemory cores_memory_;
    std::uint32_t* numbers_;  ///< by line: index into taken_; 0: none
    Cores* cores_;            ///< by line
    std::vector<Taken> taken_;
    std::vector<Shadow> shadows_;  ///< shadow tags by core
};

}  // namespace s80::model
