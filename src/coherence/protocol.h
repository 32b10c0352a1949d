// SPDX-License-Identifier: GPL-2.0-or-later
// A coherence protocol as tables: one for the private caches, and one for the home if the protocol has a
// [home]. Files in configs/protocols contain such tables.
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

/// What can happen to a block at its home. `fetch`: a read for an instruction. `put`: a private cache tells
/// the home that it has evicted its copy, which was in S (sharer), in E or M (exclusive), or in O (owner).
enum class HomeEvent : std::uint8_t {
    read,
    fetch,
    rfo,
    upgrade,
    put_sharer,
    put_exclusive,
    put_owner,
    displace,  ///< the last-level cache needs the block's way
    recall     ///< the directory needs the block's entry
};
inline constexpr unsigned kHomeEvents = 9;
/// Names of the rows of [home], in the order of HomeEvent. In a protocol file, the rows `put.` are in the
/// table [home.put].
inline constexpr std::array<const char*, kHomeEvents> kHomeEventNames{
    "read", "fetch", "rfo", "upgrade", "put.sharer", "put.exclusive", "put.owner", "displace", "recall"};

/// A cell of the table [own]: the effect of an event of the cache's own core on a block.
struct OwnCell {
    bool possible = false;
    Bus bus = Bus::none;
    State next_alone = 0;    ///< next state if no other cache keeps a copy, or if there is no bus request
    State next_shared = 0;   ///< next state if another cache keeps a copy
    bool writeback = false;  ///< only evict: the cache sends the block's data to the home or to memory
    bool put = false;        ///< only evict: the cache tells the home that it has evicted its copy
    /// Only evict: after this eviction the home assumes that other caches have copies of the line (a home
    /// state in which reads get only shared copies). Until the next rfo or upgrade of the line, a read
    /// therefore enters next_shared even if no cache has a copy.
    bool leaves_shared = false;
};

/// A cell of the table [remote]: the effect of another core's request on a copy.
struct RemoteCell {
    bool possible = false;
    State next = 0;
    bool supply = false;
    bool writeback = false;
    bool gives = false;  ///< the requester's block enters `given`, not the state that its own cell says
    State given = 0;
};

/// A cell of the table [home]: the effect of an event at the home.
struct HomeCell {
    bool possible = false;
    bool supply = false;  ///< the last-level cache sends the data if no private cache does
    /// With `supply`: the last-level cache sends the data even if a private cache could. A read then does not
    /// reach the copies in private caches, which keep their states. An rfo reaches them.
    bool first = false;
    bool grants_shared = false;  ///< the requester's block enters its state as if another cache kept a copy
    bool gives = false;          ///< with `supply`: the requester's block enters `given`
    State given = 0;
    /// The block is written to memory: the data that a private cache wrote back in this event, or else those
    /// of the last-level cache.
    bool writeback = false;
    bool recall = false;  ///< all private caches give up their copies; always true in the row `recall`
    std::array<std::array<HomeState, 2>, 2> next{};

    /// The next home state. `others_keep`: after the event, a private cache other than that of the requester
    /// or giver has a copy. `written_back`: a private cache wrote the block back in this event.
    HomeState after(bool others_keep, bool written_back) const {
        return next[others_keep ? 1 : 0][written_back ? 1 : 0];
    }
};

/// How many private caches may have a copy while the home is in a state.
enum class Copies : std::uint8_t { none, one, any };

struct HomeStateInfo {
    std::string name;
    std::string description;
    bool data = false;   ///< the last-level cache has the block, so that the state needs a way in it
    bool dirty = false;  ///< the last-level cache has newer data than memory
    Copies copies = Copies::none;
    /// Whether private caches may have copies, so that the state needs an entry of the directory, if the
    /// number of entries is bounded.
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
    /// Reads and checks a protocol file. Throws Error that names the file, the cell and what is wrong.
    static Protocol load(const std::string& path);

    const std::string& name() const { return name_; }
    const std::string& description() const { return description_; }
    /// Literature on the protocol; may be empty.
    const std::string& source() const { return source_; }
    /// The L2 organisation for which the protocol was designed, if the file names one. Only for information:
    /// the machine file decides.
    const std::optional<std::string>& l2_inclusion() const { return l2_inclusion_; }
    unsigned states() const { return n_states_; }
    State invalid() const { return invalid_; }
    const StateInfo& state(State s) const { return info_[s]; }
    bool writable(State s) const { return info_[s].writable; }
    /// Whether there is an eviction after which the home assumes that other caches have copies
    /// (OwnCell::leaves_shared).
    bool leaves_shared() const;
    /// Whether a bus that remembers one bit for each line (leaves_shared) can play the protocol: the protocol
    /// has no [home], or a [home] without a last-level cache that needs no more memory than this.
    bool bus_suffices() const;
    /// The state with this name. Throws Error if there is none.
    State find(std::string_view name) const;

    const OwnCell& own(OwnEvent event, State s) const { return own_[static_cast<unsigned>(event)][s]; }
    const RemoteCell& remote(Bus bus, State s) const { return remote_[static_cast<unsigned>(bus)][s]; }

    /// The effect of a recall by the home on a copy in this state. Only if recalls().
    const RemoteCell& recalled(State s) const { return recalled_[s]; }
    /// Whether the protocol says what a recall does to a copy.
    bool recalls() const { return recalls_; }

    /// Whether the protocol has a [home]. The functions below are only for protocols that have one.
    bool has_home() const { return n_home_states_ != 0; }
    unsigned home_states() const { return n_home_states_; }
    /// The home state of lines that are neither in the last-level cache nor in the directory.
    HomeState home_absent() const { return home_absent_; }
    const HomeStateInfo& home_state(HomeState h) const { return home_info_[h]; }
    /// Whether the protocol needs a last-level cache, because some home state has data.
    bool has_llc() const;
    /// Whether the protocol can recall a line because the directory needs its entry. Only then may the number
    /// of entries be bounded.
    bool directory_recalls() const { return directory_recalls_; }
    const HomeCell& home(HomeEvent event, HomeState h) const {
        return home_[static_cast<unsigned>(event)][h];
    }
    /// The event at the home when a private cache tells it that it evicts a block in this state.
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

/// Which event of its own core an access is for a cache. A page walk counts as a load.
constexpr OwnEvent own_event(Kind kind) {
    switch (kind) {
        case Kind::ifetch: return OwnEvent::fetch;
        case Kind::store: return OwnEvent::store;
        default: return OwnEvent::load;
    }
}

}  // namespace s80::model
