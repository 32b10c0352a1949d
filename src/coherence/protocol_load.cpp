// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a protocol file. Missing and unknown cells are refused here; the TOML parser refuses duplicate ones.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "base/toml.h"
#include "coherence/protocol.h"
#include "machine/machine.h"

namespace s80::model {

namespace {

constexpr std::array<const char*, kOwnEvents> kOwnNames{"load", "fetch", "store", "evict"};
constexpr std::array<const char*, kBusRequests> kBusNames{"read", "rfo", "upgrade"};

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const auto& w : words) {
        all += (all.empty() ? "" : ", ") + w;
    }
    return all;
}

}  // namespace

class ProtocolLoader {
public:
    explicit ProtocolLoader(const std::string& path) : path_(path), root_(parse_toml(path)) {}

    Protocol load() {
        allow(root_, "the top level",
              {"name", "description", "source", "l2_inclusion", "states", "own", "remote", "home"});
        p_.name_ = text(root_, "name", "the top level");
        p_.description_ = text(root_, "description", "the top level");
        if (root_.contains("source")) {
            p_.source_ = text(root_, "source", "the top level");
        }
        if (root_.contains("l2_inclusion")) {
            p_.l2_inclusion_ = text(root_, "l2_inclusion", "the top level");
            if (p_.l2_inclusion_ != "inclusive" && p_.l2_inclusion_ != "exclusive") {
                fail("l2_inclusion is '" + *p_.l2_inclusion_ + "'; allowed: inclusive, exclusive");
            }
        }
        load_states();
        for (unsigned e = 0; e < kOwnEvents; ++e) {
            load_row("own", kOwnNames[e], [&](State s, const toml::table& cell, const std::string& at) {
                p_.own_[e][s] = static_cast<OwnEvent>(e) == OwnEvent::evict ? evict_cell(cell, at, s)
                                                                            : own_cell(cell, at, s);
            });
        }
        for (unsigned b = 0; b < kBusRequests; ++b) {
            load_row("remote", kBusNames[b], [&](State s, const toml::table& cell, const std::string& at) {
                p_.remote_[b][s] = remote_cell(cell, at, s);
                if (static_cast<Bus>(b) == Bus::upgrade && p_.remote_[b][s].supply) {
                    fail(at + ".supply: an upgrade carries no data, so no cache can supply");
                }
            });
        }
        only_rows("own", {kOwnNames.begin(), kOwnNames.end()});
        std::vector<std::string> remote_rows{kBusNames.begin(), kBusNames.end()};
        remote_rows.emplace_back("recall");
        only_rows("remote", remote_rows);
        if (root_.contains("home")) {
            load_home();
        }
        load_recalled();
        return std::move(p_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const { throw Error(path_ + ": " + what); }

    void allow(const toml::table& t, const std::string& at, const std::vector<std::string>& keys) const {
        for (const auto& [key, value] : t) {
            if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
                fail(at + " has the unknown key '" + std::string(key.str()) + "'; allowed: " + joined(keys));
            }
        }
    }

    std::string text(const toml::table& t, const char* key, const std::string& at) const {
        const auto value = t[key].value<std::string>();
        if (!value || value->empty()) {
            fail(at + ": the text '" + key + "' is missing");
        }
        return *value;
    }

    bool flag(const toml::table& t, const char* key, const std::string& at) const {
        if (!t.contains(key)) {
            return false;
        }
        const auto value = t[key].value_exact<bool>();
        if (!value) {
            fail(at + "." + key + " must be true or false");
        }
        return *value;
    }

    const toml::table& table(const toml::table& t, const std::string& key, const std::string& at) const {
        const auto* found = t[key].as_table();
        if (found == nullptr) {
            fail("the table [" + at + "] is missing");
        }
        return *found;
    }

    void load_states() {
        const auto& states = table(root_, "states", "states");
        if (states.size() > kMaxStates) {
            fail("more than " + std::to_string(kMaxStates) + " states");
        }
        std::optional<State> invalid;
        for (const std::string& name : in_file_order(states)) {
            const std::string at = "states." + name;
            if (!identifier(name)) {
                fail(at + ": a state's name must be a letter followed by letters, digits and _");
            }
            const auto& t = table(states, name, at);
            allow(t, at, {"description", "counts_as", "readable", "writable"});
            StateInfo& info = p_.info_[p_.n_states_];
            info.name = name;
            info.description = text(t, "description", at);
            info.readable = flag(t, "readable", at);
            info.writable = flag(t, "writable", at);
            info.counts_as =
                t.contains("counts_as") ? counts_as(text(t, "counts_as", at), at) : StateClass::none;
            if (!info.readable) {
                if (invalid) {
                    fail("two states are not readable (" + p_.info_[*invalid].name + " and " + name +
                         "); exactly one state, the invalid one, must not be readable");
                }
                if (info.writable || info.counts_as != StateClass::none) {
                    fail(at + " is not readable, so it can have neither writable nor counts_as");
                }
                invalid = static_cast<State>(p_.n_states_);
            } else if (info.counts_as == StateClass::none) {
                fail(at + " is readable, so it needs counts_as: M, O, E or S");
            }
            ++p_.n_states_;
        }
        if (!invalid) {
            fail("no invalid state: exactly one state must not be readable");
        }
        p_.invalid_ = *invalid;
    }

    /// The names of the states in the order of the file. The order matters: if several caches could supply,
    /// the one whose state stands first does. toml++ sorts tables by name, so this function sorts by the
    /// position in the file.
    static std::vector<std::string> in_file_order(const toml::table& states) {
        std::vector<std::tuple<toml::source_index, toml::source_index, std::string>> order;
        for (const auto& [key, value] : states) {
            const auto& begin = value.source().begin;
            order.emplace_back(begin.line, begin.column, std::string(key.str()));
        }
        std::sort(order.begin(), order.end());
        std::vector<std::string> names;
        names.reserve(order.size());
        for (const auto& [line, column, name] : order) {
            names.push_back(name);
        }
        return names;
    }

    static bool identifier(const std::string& name) {
        const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
        return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
            return letter(c) || (c >= '0' && c <= '9') || c == '_';
        });
    }

    StateClass counts_as(const std::string& word, const std::string& at) const {
        static const std::vector<std::string> words{"M", "O", "E", "S"};
        const auto it = std::find(words.begin(), words.end(), word);
        if (it == words.end()) {
            fail(at + ".counts_as is '" + word + "'; allowed: M, O, E, S");
        }
        return static_cast<StateClass>(it - words.begin());
    }

    template <class Fn>
    void load_row(const std::string& side, const std::string& event, Fn&& store) {
        const std::string at = side + "." + event;
        const auto& row = table(table(root_, side, side), event, at);
        std::vector<std::string> names;
        for (unsigned s = 0; s < p_.n_states_; ++s) {
            names.push_back(p_.info_[s].name);
            const auto* cell = row[p_.info_[s].name].as_table();
            if (cell == nullptr) {
                fail("the cell " + at + "." + p_.info_[s].name +
                     " is missing; write its effect, or impossible = \"why\"");
            }
            store(static_cast<State>(s), *cell, at + "." + p_.info_[s].name);
        }
        allow(row, "[" + at + "]", names);
    }

    void only_rows(const std::string& side, const std::vector<std::string>& rows) const {
        allow(table(root_, side, side), "[" + side + "]", rows);
    }

    State state(const toml::table& cell, const char* key, const std::string& at) const {
        const std::string name = text(cell, key, at);
        for (unsigned s = 0; s < p_.n_states_; ++s) {
            if (p_.info_[s].name == name) {
                return static_cast<State>(s);
            }
        }
        fail(at + "." + key + " names the unknown state '" + name + "'");
    }

    bool impossible(const toml::table& cell, const std::string& at) const {
        if (!cell.contains("impossible")) {
            return false;
        }
        text(cell, "impossible", at);  // throws if the value is not a text, which is the reason
        allow(cell, at, {"impossible"});
        return true;
    }

    State held(const toml::table& cell, const char* key, const std::string& at) const {
        const State s = state(cell, key, at);
        if (s == p_.invalid_) {
            fail(at + "." + key + " is the invalid state, but the core has just accessed the block");
        }
        return s;
    }

    OwnCell own_cell(const toml::table& cell, const std::string& at, State from) const {
        OwnCell out;
        if (impossible(cell, at)) {
            return out;
        }
        allow(cell, at, {"bus", "next", "alone", "shared"});
        out.possible = true;
        if (cell.contains("bus")) {
            const std::string bus = text(cell, "bus", at);
            const auto it = std::find(kBusNames.begin(), kBusNames.end(), bus);
            if (it == kBusNames.end()) {
                fail(at + ".bus is '" + bus + "'; allowed: read, rfo, upgrade");
            }
            out.bus = static_cast<Bus>(it - kBusNames.begin());
        } else if (from == p_.invalid_) {
            fail(at + ": a miss needs data, but the cell has no 'bus'; write bus = read or rfo");
        }
        if (from == p_.invalid_ && out.bus == Bus::upgrade) {
            fail(at + ": a miss needs data, but an upgrade carries no data; write bus = read or rfo");
        }
        const bool split = cell.contains("alone") || cell.contains("shared");
        if (split && cell.contains("next")) {
            fail(at + " has both 'next' and alone/shared; write one or the other");
        }
        if (split && out.bus == Bus::none) {
            fail(at + " has no 'bus', so it needs 'next' instead of alone/shared");
        }
        out.next_alone = held(cell, split ? "alone" : "next", at);
        out.next_shared = held(cell, split ? "shared" : "next", at);
        return out;
    }

    OwnCell evict_cell(const toml::table& cell, const std::string& at, State from) const {
        OwnCell out;
        if (impossible(cell, at)) {
            return out;
        }
        allow(cell, at, {"next", "writeback", "put"});
        out.possible = true;
        out.next_alone = out.next_shared = state(cell, "next", at);
        if (from == p_.invalid_) {
            fail(at + ": an absent block cannot be evicted; write impossible = \"why\"");
        }
        if (out.next_alone != p_.invalid_) {
            fail(at + ".next must be the invalid state " + p_.info_[p_.invalid_].name);
        }
        out.writeback = flag(cell, "writeback", at);
        const bool put = flag(cell, "put", at);
        if (cell.contains("put") && !root_.contains("home")) {
            fail(at + ".put needs a home, but the table has no [home]");
        }
        out.put = root_.contains("home") && (put || out.writeback);
        return out;
    }

    RemoteCell remote_cell(const toml::table& cell, const std::string& at, State from) const {
        RemoteCell out;
        if (impossible(cell, at)) {
            return out;
        }
        allow(cell, at, {"next", "supply", "writeback", "gives"});
        out.possible = true;
        out.next = state(cell, "next", at);
        out.supply = flag(cell, "supply", at);
        out.writeback = flag(cell, "writeback", at);
        out.gives = cell.contains("gives");
        if (from == p_.invalid_ && (out.next != from || out.supply || out.writeback)) {
            fail(at + ": a cache without the block cannot change state, supply or write back");
        }
        if (out.gives) {
            out.given = given(cell, at, out);
        }
        return out;
    }

    /// Reads the state that a supplier gives to the requester. Refuses a cell that contradicts itself. Only
    /// the proof can check that the table as a whole is coherent (`s80lab protocol check`).
    State given(const toml::table& cell, const std::string& at, const RemoteCell& out) const {
        const State s = state(cell, "gives", at);
        if (!out.supply) {
            fail(at + ".gives needs supply = true");
        }
        if (s == p_.invalid_) {
            fail(at + ".gives is the invalid state, but the requester has just received the block");
        }
        const StateClass as = p_.info_[s].counts_as;
        if (out.next != p_.invalid_ && (as == StateClass::M || as == StateClass::E)) {
            fail(at + " gives " + p_.info_[s].name + ", the state of an only copy, but keeps a copy in " +
                 p_.info_[out.next].name);
        }
        return s;
    }

    // --- the table [home] ---

    void load_home() {
        const auto& home = table(root_, "home", "home");
        load_home_states(home);
        allow(home, "[home]", {"states", "read", "fetch", "rfo", "upgrade", "put", "displace", "recall"});
        if (home.contains("put")) {
            allow(table(home, "put", "home.put"), "[home.put]", {"sharer", "exclusive", "owner"});
        }
        for (unsigned e = 0; e < kHomeEvents; ++e) {
            const auto event = static_cast<HomeEvent>(e);
            const auto* row = home_row(home, event);
            if (event == HomeEvent::fetch && row == nullptr) {
                p_.home_[e] = p_.home_[static_cast<unsigned>(HomeEvent::read)];
            } else if (wanted(event, row != nullptr)) {
                load_home_row(row, event);
            }
        }
        p_.directory_recalls_ = home.contains("recall");
        for (unsigned s = 0; s < p_.n_states_; ++s) {
            set_leaves_shared(static_cast<State>(s));
        }
    }

    void load_home_states(const toml::table& home) {
        const auto& states = table(home, "states", "home.states");
        if (states.size() > kMaxHomeStates) {
            fail("[home.states] has more than " + std::to_string(kMaxHomeStates) + " states");
        }
        std::optional<HomeState> absent;
        for (const std::string& name : in_file_order(states)) {
            const std::string at = "home.states." + name;
            if (!identifier(name)) {
                fail(at + ": a state's name must be a letter followed by letters, digits and _");
            }
            const auto& t = table(states, name, at);
            allow(t, at, {"description", "data", "dirty", "copies"});
            HomeStateInfo& info = p_.home_info_[p_.n_home_states_];
            info.name = name;
            info.description = text(t, "description", at);
            info.data = flag(t, "data", at);
            info.dirty = flag(t, "dirty", at);
            info.copies = copies(text(t, "copies", at), at);
            if (info.dirty && !info.data) {
                fail(at + " is dirty, so it needs data = true");
            }
            if (!info.data && !info.tracked()) {
                if (absent) {
                    fail("home.states." + p_.home_info_[*absent].name + " and " + at +
                         " have neither data nor copies; exactly one state, the absent one, must not");
                }
                absent = static_cast<HomeState>(p_.n_home_states_);
            }
            ++p_.n_home_states_;
        }
        if (!absent) {
            fail("[home.states]: exactly one state, the absent one, must have neither data nor copies");
        }
        p_.home_absent_ = *absent;
    }

    Copies copies(const std::string& word, const std::string& at) const {
        static const std::vector<std::string> words{"none", "one", "any"};
        const auto it = std::find(words.begin(), words.end(), word);
        if (it == words.end()) {
            fail(at + ".copies is '" + word + "'; allowed: none, one, any");
        }
        return static_cast<Copies>(it - words.begin());
    }

    const toml::table* home_row(const toml::table& home, HomeEvent event) const {
        const std::string name = kHomeEventNames[static_cast<unsigned>(event)];
        const auto dot = name.find('.');
        const toml::node* row = dot == std::string::npos
                                    ? home.get(name)
                                    : home[name.substr(0, dot)][name.substr(dot + 1)].node();
        if (row != nullptr && row->as_table() == nullptr) {
            fail("home." + name + " must be a table with a cell for each state");
        }
        return row == nullptr ? nullptr : row->as_table();
    }

    /// Whether the file's row for this event must be read. `there`: the file has the row. Throws if it has a
    /// row for an event that cannot happen, or lacks a row for one that can.
    bool wanted(HomeEvent event, bool there) const {
        const std::string at = std::string("[home.") + kHomeEventNames[static_cast<unsigned>(event)] + "]";
        std::string why_not;
        switch (event) {
            case HomeEvent::read:
            case HomeEvent::rfo: break;
            case HomeEvent::fetch:
            case HomeEvent::recall: return there;
            case HomeEvent::upgrade:
                why_not = requests_upgrades() ? "" : "no cell of [own] has bus = upgrade";
                break;
            case HomeEvent::displace: why_not = p_.has_llc() ? "" : "no home state has data"; break;
            default:
                why_not = puts(event) ? "" : "no private cache tells the home of such an eviction";
                break;
        }
        if (there && !why_not.empty()) {
            fail(at + " describes an event that cannot happen: " + why_not);
        }
        if (!there && why_not.empty()) {
            fail("the table " + at + " is missing");
        }
        return there;
    }

    bool requests_upgrades() const {
        return std::any_of(p_.own_.begin(), p_.own_.end(), [](const auto& row) {
            return std::any_of(row.begin(), row.end(),
                               [](const OwnCell& cell) { return cell.possible && cell.bus == Bus::upgrade; });
        });
    }

    bool puts(HomeEvent event) const {
        for (unsigned s = 0; s < p_.n_states_; ++s) {
            const auto state = static_cast<State>(s);
            if (p_.own(OwnEvent::evict, state).put && p_.put_event(state) == event) {
                return true;
            }
        }
        return false;
    }

    static bool is_put(HomeEvent event) {
        return event >= HomeEvent::put_sharer && event <= HomeEvent::put_owner;
    }

    /// Whether the event can happen in this home state. Requests can happen in each state, displacements in
    /// states with data, and puts and recalls in states with copies.
    bool meets(HomeEvent event, const HomeStateInfo& info) const {
        if (event == HomeEvent::displace) {
            return info.data;
        }
        return event == HomeEvent::recall || is_put(event) ? info.tracked() : true;
    }

    void load_home_row(const toml::table* row, HomeEvent event) {
        const std::string at = std::string("home.") + kHomeEventNames[static_cast<unsigned>(event)];
        std::vector<std::string> names;
        for (unsigned h = 0; h < p_.n_home_states_; ++h) {
            const HomeStateInfo& info = p_.home_info_[h];
            if (!meets(event, info)) {
                continue;
            }
            names.push_back(info.name);
            const auto* cell = (*row)[info.name].as_table();
            if (cell == nullptr) {
                fail("the cell " + at + "." + info.name +
                     " is missing; write its effect, or impossible = \"why\"");
            }
            p_.home_[static_cast<unsigned>(event)][h] = home_cell(*cell, at + "." + info.name, event, info);
        }
        allow(*row, "[" + at + "]", names);
    }

    HomeCell home_cell(const toml::table& cell, const std::string& at, HomeEvent event,
                       const HomeStateInfo& from) const {
        HomeCell out;
        if (impossible(cell, at)) {
            return out;
        }
        allow(cell, at, home_keys(event));
        out.possible = true;
        out.supply = flag(cell, "supply", at);
        out.first = flag(cell, "first", at);
        out.writeback = flag(cell, "writeback", at);
        out.recall = event == HomeEvent::recall || flag(cell, "recall", at);
        if ((out.supply || out.writeback) && !from.data) {
            fail(at + ": the last-level cache cannot supply or write back in a state without data");
        }
        if (out.first && !out.supply) {
            fail(at + ".first needs supply = true");
        }
        if (cell.contains("grants")) {
            const std::string grants = text(cell, "grants", at);
            if (grants != "shared") {
                fail(at + ".grants is '" + grants + "'; allowed: shared");
            }
            out.grants_shared = true;
        }
        out.gives = cell.contains("gives");
        if (out.gives) {
            if (!out.supply) {
                fail(at + ".gives needs supply = true");
            }
            out.given = held(cell, "gives", at);
        }
        home_ends(out, cell, at);
        for (unsigned n = 0; n < 4; ++n) {
            check_home_end(p_.home_info_[out.next[n / 2][n % 2]], at, event, from, out.recall, n % 2 == 1);
        }
        return out;
    }

    static std::vector<std::string> home_keys(HomeEvent event) {
        std::vector<std::string> keys{"next", "alone", "shared", "clean", "dirty"};
        if (!is_put(event)) {
            keys.emplace_back("writeback");
        }
        if (event <= HomeEvent::rfo) {
            keys.insert(keys.end(), {"supply", "first", "gives"});
        }
        if (event <= HomeEvent::fetch) {
            keys.emplace_back("grants");
        }
        if (event == HomeEvent::displace) {
            keys.emplace_back("recall");
        }
        return keys;
    }

    /// Reads the next states of a cell. It has one of these forms: `next`; `alone` and `shared`; `clean` and
    /// `dirty`; or `clean` and `dirty` with one of `alone` and `shared`, which takes precedence over them.
    void home_ends(HomeCell& out, const toml::table& cell, const std::string& at) const {
        const bool alone = cell.contains("alone");
        const bool shared = cell.contains("shared");
        const bool clean = cell.contains("clean");
        const bool dirty = cell.contains("dirty");
        const bool split = alone || shared || clean || dirty;
        const bool by_copies = alone && shared && !clean && !dirty;
        const bool by_data = clean && dirty && !(alone && shared);
        if (cell.contains("next") ? split : !by_copies && !by_data) {
            fail(at +
                 " needs either next, or alone and shared, or clean and dirty (with alone or shared before "
                 "them)");
        }
        const auto end = [&](const char* key) { return home_state(cell, key, at); };
        for (unsigned keep = 0; keep < 2; ++keep) {
            for (unsigned written = 0; written < 2; ++written) {
                const char* copies = keep == 1 ? "shared" : "alone";
                const char* data = written == 1 ? "dirty" : "clean";
                out.next[keep][written] = end(!split ? "next" : cell.contains(copies) ? copies : data);
            }
        }
    }

    HomeState home_state(const toml::table& cell, const char* key, const std::string& at) const {
        const std::string name = text(cell, key, at);
        for (unsigned h = 0; h < p_.n_home_states_; ++h) {
            if (p_.home_info_[h].name == name) {
                return static_cast<HomeState>(h);
            }
        }
        fail(at + "." + key + " names the unknown home state '" + name + "'");
    }

    void check_home_end(const HomeStateInfo& end, const std::string& at, HomeEvent event,
                        const HomeStateInfo& from, bool recall, bool written_back) const {
        const bool request = event <= HomeEvent::upgrade;
        if (request && !end.tracked()) {
            fail(at + " ends in " + end.name + " with copies = none, but the requester has a copy");
        }
        if (recall && end.tracked()) {
            fail(at + " ends in " + end.name + ", which allows copies, but a recall leaves none");
        }
        if (event == HomeEvent::displace && end.data) {
            fail(at + " ends in " + end.name + " with data, but the block leaves the last-level cache");
        }
        const bool no_data = event == HomeEvent::upgrade || (event == HomeEvent::recall && !written_back);
        if (no_data && end.data && !from.data) {
            fail(at + " ends in " + end.name + " with data, but no data reach the last-level cache");
        }
    }

    /// Sets OwnCell::leaves_shared of the eviction in this state. It is the only thing about a [home] that a
    /// bus can remember.
    void set_leaves_shared(State s) {
        OwnCell& evict = p_.own_[static_cast<unsigned>(OwnEvent::evict)][s];
        for (unsigned h = 0; evict.put && h < p_.n_home_states_; ++h) {
            const HomeCell& cell = p_.home(p_.put_event(s), static_cast<HomeState>(h));
            evict.leaves_shared |= cell.possible && p_.grants_shared(cell.next[0][0]);
        }
    }

    /// Reads the row [remote.recall]. A file has this row if and only if its home can recall lines.
    void load_recalled() {
        const auto& displace = p_.home_[static_cast<unsigned>(HomeEvent::displace)];
        p_.recalls_ = p_.directory_recalls_ || std::any_of(displace.begin(), displace.end(),
                                                           [](const HomeCell& c) { return c.recall; });
        const bool there = table(root_, "remote", "remote").contains("recall");
        if (there && !p_.recalls_) {
            fail("[remote.recall] describes an event that cannot happen: no cell of [home] recalls");
        }
        if (p_.recalls_) {
            load_row("remote", "recall", [&](State s, const toml::table& cell, const std::string& at) {
                if (!cell.contains("impossible")) {
                    allow(cell, at, {"next", "writeback"});
                }
                p_.recalled_[s] = remote_cell(cell, at, s);
            });
        }
    }

    std::string path_;
    toml::table root_;
    Protocol p_;
};

Protocol Protocol::load(const std::string& path) {
    return ProtocolLoader(path).load();
}

}  // namespace s80::model
