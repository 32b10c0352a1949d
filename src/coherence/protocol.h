// SPDX-License-Identifier: GPL-2.0-or-later
// A coherence protocol as dense tables: of the private caches, and of the home if the protocol has one.
// Loaded from a file in configs/protocols.
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

inline constexpr unsigned kMaxHomeStates = 16;
using HomeState = std::uint8_t;

/// What can happen to a block at its home. A fetch is a read for an instruction. A put tells the home that a
/// private cache evicted its copy; the three puts are for copies in S, in E or M, and in O.
enum class HomeEvent : std::uint8_t {
    read,
    fetch,
    rfo,
    upgrade,
    put_sharer,
    put_exclusive,
    put_owner,
    displace,  ///< the last-level cache needs the way
    recall     ///< the directory needs the entry
};
inline constexpr unsigned kHomeEvents = 9;
/// Names of the rows of [home], in the order of HomeEvent. In a protocol file, the rows `put.` are in the
/// subtable [home.put].
inline constexpr std::array<const char*, kHomeEvents> kHomeEventNames{
    "read", "fetch", "rfo", "upgrade", "put.sharer", "put.exclusive", "put.owner", "displace", "recall"};

/// The effect of an event of a cache's own core.
struct OwnCell {
    bool possible = false;
    Bus bus = Bus::none;
    State next_alone = 0;    ///< next state when no other cache keeps a copy (or without a bus request)
    State next_shared = 0;   ///< next state when another cache keeps a copy
    bool writeback = false;  ///< evict only: the block's data go to the home, or to memory
    bool put = false;        ///< evict only: the cache tells the home
    /// evict only: the home assumes that sharers remain, because its next state grants reads only shared
    /// copies. Until the next rfo or upgrade for the line, a read fills in next_shared, even if no cache has
    /// a copy.
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

/// The effect of an event at the home.
struct HomeCell {
    bool possible = false;
    bool supply = false;  ///< the last-level cache sends the data if no private cache does
    /// With `supply`: the last-level cache sends the data even if a private cache could. A read then does not
    /// reach the private caches, which keep their states; an rfo does reach them.
    bool first = false;
    bool grants_shared = false;  ///< the requester fills as if another cache kept a copy
    bool gives = false;          ///< with supply: the requester fills in `given`
    State given = 0;
    bool writeback = false;  ///< the block goes to memory: as a private cache wrote it back in this event, or
                             ///< as the last-level cache has it
    bool recall = false;     ///< all private caches give the block up (always in the row recall)
    std::array<std::array<HomeState, 2>, 2> next{};

    /// The next state. others_keep: private caches other than the requester or giver keep a copy after the
    /// event. written_back: a private cache wrote the block back in this event.
    HomeState after(bool others_keep, bool written_back) const {
        return next[others_keep ? 1 : 0][written_back ? 1 : 0];
    }
};

/// The private copies that may exist while the home is in a state.
enum class Copies : std::uint8_t { none, one, any };

struct HomeStateInfo {
    std::string name;
    std::string description;
    bool data = false;   ///< the last-level cache holds the block: the state occupies one of its ways
    bool dirty = false;  ///< the block in the last-level cache has to be written back
    Copies copies = Copies::none;
    /// The state occupies an entry of a directory that has tags of its own.
    bool tracked() const { return copies != Copies::none; }
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
    /// Whether the home goes on assuming sharers after some eviction.
    bool leaves_shared() const;
    /// Whether a bus with one flag a line (leaves_shared) does all that the home does: there is no [home], or
    /// it has neither a last-level cache nor more than this to remember.
    bool bus_suffices() const;
    /// The state with this name. Throws Error if there is none.
    State find(std::string_view name) const;

    const OwnCell& own(OwnEvent event, State s) const { return own_[static_cast<unsigned>(event)][s]; }
    const RemoteCell& remote(Bus bus, State s) const { return remote_[static_cast<unsigned>(bus)][s]; }

    /// The cell of a copy that the home recalls. Only if `recalls()`.
    const RemoteCell& recalled(State s) const { return recalled_[s]; }
    /// Whether the table says what a copy does when the home recalls it.
    bool recalls() const { return recalls_; }

    /// Whether the table has a [home]. Nothing of what follows applies to a table without.
    bool has_home() const { return n_home_states_ != 0; }
    unsigned home_states() const { return n_home_states_; }
    /// The state of a line that is neither in the last-level cache nor in the directory.
    HomeState home_absent() const { return home_absent_; }
    const HomeStateInfo& home_state(HomeState h) const { return home_info_[h]; }
    /// Whether some home state has data: the protocol needs a last-level cache.
    bool has_llc() const;
    /// Whether the table has the row `recall`: the protocol supports a directory with too few entries.
    bool directory_recalls() const { return directory_recalls_; }
    const HomeCell& home(HomeEvent event, HomeState h) const {
        return home_[static_cast<unsigned>(event)][h];
    }
    /// The event at the home when a private cache gives up a block in this state, and says so.
    HomeEvent put_event(State s) const {
        switch (info_[s].counts_as) {
            case StateClass::S: return HomeEvent::put_sharer;
            case StateClass::O: return HomeEvent::put_owner;
            default: return HomeEvent::put_exclusive;
        }
    }

private:
    friend class ProtocolLoader;
    bool grants_shared(HomeState h) const { return home(HomeEvent::read, h).grants_shared; }

    std::string name_;
    std::string description_;
    std::string source_;
    std::optional<std::string> l2_inclusion_;
    unsigned n_states_ = 0;
    State invalid_ = 0;
    std::array<StateInfo, kMaxStates> info_{};
    std::array<std::array<OwnCell, kMaxStates>, kOwnEvents> own_{};
    std::array<std::array<RemoteCell, kMaxStates>, kBusRequests> remote_{};
    std::array<RemoteCell, kMaxStates> recalled_{};
    bool recalls_ = false;
    unsigned n_home_states_ = 0;
    HomeState home_absent_ = 0;
    bool directory_recalls_ = false;
    std::array<HomeStateInfo, kMaxHomeStates> home_info_{};
    std::array<std::array<HomeCell, kMaxHomeStates>, kHomeEvents> home_{};
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
