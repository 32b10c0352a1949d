// SPDX-License-Identifier: GPL-2.0-or-later
// Every request to the bus with a name: whose, of what, why, and which bytes of the line others had written
// since. Looks on while the player plays; changes nothing.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/hierarchy.h"
#include "model/host_memory.h"
#include "model/player.h"
#include "model/shadow.h"
#include "model/witness.h"

namespace s80::model {

enum class Request : std::uint8_t { miss, upgrade };
/// Why a core missed. cold: it had not held the line since the log began. coherence: another core's request
/// took its copy. conflict: a fully associative cache of the same size would have held it. none: of upgrades.
enum class Reason : std::uint8_t { cold, capacity, conflict, coherence, none };
/// Of a coherence miss: whether others had written what it now accesses.
enum class Sharing : std::uint8_t { none, true_sharing, false_sharing };

/// Bytes that one bit of `reads` and `writes` stands for: a sixteenth of a line, but no less than a word.
constexpr std::uint64_t granule_bytes(std::uint64_t line_bytes) {
    constexpr std::uint64_t kGranules = 16;
    constexpr std::uint64_t kWord = 8;
    return line_bytes / kGranules > kWord ? line_bytes / kGranules : kWord;
}

/// One request, as it stands in the log (docs/reference/interfaces/miss-log.md).
struct Miss {
    std::uint64_t time_ns = 0;   ///< modelled
    std::uint64_t pc = 0;        ///< of the instruction, or of its block where it was fetched
    std::uint64_t address = 0;   ///< virtual
    std::uint64_t physical = 0;  ///< of the line's first byte
    std::uint32_t who = 0;       ///< the recorder's number of task and system call
    std::uint32_t holders = 0;   ///< other cores that had a copy
    std::uint16_t reads = 0;     ///< granules that it accesses now
    std::uint16_t writes = 0;
    std::uint16_t foreign = 0;  ///< granules that others had written since this core lost the line
    std::uint8_t core = 0;
    std::uint8_t processor = 0;
    Kind kind = Kind::load;
    Request request = Request::miss;
    Source source = Source::memory;
    std::uint8_t supplier = kNobody;
    Reason reason = Reason::none;
    Sharing sharing = Sharing::none;
    Context context;
    std::uint8_t size = 0;    ///< bytes
    std::uint32_t stall = 0;  ///< cycles
    std::uint32_t zero = 0;
};
static_assert(sizeof(Miss) == 64);

class Attribution final : public Observer, public Witness {
public:
    using Sink = std::function<void(const Miss&)>;

    /// Tells `sink` of the requests of `hierarchy` from the mark measure_begin to measure_end; the windows'
    /// streams must have notes. All must outlive this.
    Attribution(Hierarchy& hierarchy, const Player& player, Sink sink);

    void begin(const Window& window) override { window_ = &window; }
    void event(unsigned processor, const Event& event, std::int64_t clock) override;
    void end(const Window& window) override;

    void beyond_l1(unsigned core, Line line) override;
    void missed(unsigned core, Line line, const Answered& answer) override;
    void upgraded(unsigned core, Line line, const Answered& answer) override;
    void lost(unsigned core, Line line) override;

private:
    /// A line that a core has lost to another.
    struct Taken {
        std::uint32_t lost = 0;                          ///< cores whose copy another's request took
        std::array<std::uint16_t, kMaxCores> foreign{};  ///< granules that others have written since
    };
    void start();
    void stored(unsigned core, Line line);
    Miss request(unsigned core, Line line, const Answered& answer) const;

    Hierarchy& hierarchy_;
    const Player& player_;
    const Sink sink_;
    bool active_ = false;
    const Window* window_ = nullptr;

    // The access that is under way.
    const Event* event_ = nullptr;
    const Note* note_ = nullptr;
    unsigned processor_ = 0;
    std::int64_t clock_ = 0;
    bool in_shadow_ = false;  ///< of its core: the line, before the access

    HostMemory number_memory_;
    HostMemory ever_memory_;
    std::uint32_t* numbers_;  ///< by line: of taken_; 0: none
    std::uint32_t* ever_;     ///< by line: cores that have held it
    std::vector<Taken> taken_;
    std::vector<Shadow> shadows_;  ///< by core
};

}  // namespace s80::model
