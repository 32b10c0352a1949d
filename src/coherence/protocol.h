// SPDX-License-Identifier: GPL-2.0-or-later
// A coherence protocol as a dense table, loaded from a file in configs/protocols.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace s80::model {

inline constexpr unsigned kMaxStates = 8;
using State = std::uint8_t;

enum class OwnEvent : std::uint8_t { load, fetch, store, evict };
inline constexpr unsigned kOwnEvents = 4;

enum class Bus : std::uint8_t { read, rfo, upgrade, none };
inline constexpr unsigned kBusRequests = 3;

/// The effect of an event of a cache's own core.
struct OwnCell {
    bool possible = false;
    Bus bus = Bus::none;
    State next_alone = 0;    ///< next state when no other cache keeps a copy (or without a bus request)
    State next_shared = 0;   ///< next state when another cache keeps a copy
    bool writeback = false;  ///< evict only: the block's data go to memory
    /// evict only: the directory keeps assuming that sharers remain. Until the next rfo or upgrade for the
    /// line, a read fills in next_shared, even if no cache keeps a copy.
    bool leaves_shared = false;
};

/// The effect of a snooped request of another core.
struct RemoteCell {
    bool possible = false;
    State next = 0;
    bool supply = false;
    bool writeback = false;
    bool gives = false;  ///< the requester fills in `given` instead of the state in its own cell
    State given = 0;
};

struct StateInfo {
    std::string name;
    std::string description;
    StateClass counts_as = StateClass::none;
    bool readable = false;
    bool writable = false;
};

class Protocol {
public:
    /// Reads and checks a table. Throws Error with the file, the cell and the fault.
    static Protocol load(const std::string& path);

    const std::string& name() const { return name_; }
    const std::string& description() const { return description_; }
    /// Literature on the protocol; may be empty.
    const std::string& source() const { return source_; }
    /// The L2 organisation that the protocol was designed for, if the table has one. The machine file
    /// decides.
    const std::optional<std::string>& l2_inclusion() const { return l2_inclusion_; }
    unsigned states() const { return n_states_; }
    State invalid() const { return invalid_; }
    const StateInfo& state(State s) const { return info_[s]; }
    bool writable(State s) const { return info_[s].writable; }
    /// Whether the directory keeps assuming sharers after some eviction.
    bool leaves_shared() const;
    /// The state with this name. Throws Error if there is none.
    State find(std::string_view name) const;

    const OwnCell& own(OwnEvent event, State s) const { return own_[static_cast<unsigned>(event)][s]; }
    const RemoteCell& remote(Bus bus, State s) const { return remote_[static_cast<unsigned>(bus)][s]; }

private:
    friend class ProtocolLoader;
    std::string name_;
    std::string description_;
    std::string source_;
    std::optional<std::string> l2_inclusion_;
    unsigned n_states_ = 0;
    State invalid_ = 0;
    std::array<StateInfo, kMaxStates> info_{};
    std::array<std::array<OwnCell, kMaxStates>, kOwnEvents> own_{};
    std::array<std::array<RemoteCell, kMaxStates>, kBusRequests> remote_{};
};

/// The own event for a kind of access. A page walk is a load.
constexpr OwnEvent own_event(Kind kind) {
    switch (kind) {
        case Kind::ifetch: return OwnEvent::fetch;
        case Kind::store: return OwnEvent::store;
        default: return OwnEvent::load;
    }
}

}  // namespace s80::model
