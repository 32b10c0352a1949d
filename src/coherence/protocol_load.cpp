// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a protocol table. The TOML parser refuses duplicate cells; this file refuses missing and unknown
// cells.
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
              {"name", "description", "source", "l2_inclusion", "states", "own", "remote"});
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
        only_rows("remote", {kBusNames.begin(), kBusNames.end()});
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
        // The order of the file is the order of supply; toml++ sorts by name, so go by position.
        std::vector<std::tuple<toml::source_index, toml::source_index, std::string>> order;
        for (const auto& [key, value] : states) {
            const auto& begin = value.source().begin;
            order.emplace_back(begin.line, begin.column, std::string(key.str()));
        }
        std::sort(order.begin(), order.end());
        if (order.size() > kMaxStates) {
            fail("more than " + std::to_string(kMaxStates) + " states");
        }
        std::optional<State> invalid;
        for (const auto& [line, column, name] : order) {
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
        text(cell, "impossible", at);  // the reason must be there
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
        allow(cell, at, {"next", "writeback", "leaves_shared"});
        out.possible = true;
        out.next_alone = out.next_shared = state(cell, "next", at);
        if (from == p_.invalid_) {
            fail(at + ": an absent block cannot be evicted; write impossible = \"why\"");
        }
        if (out.next_alone != p_.invalid_) {
            fail(at + ".next must be the invalid state " + p_.info_[p_.invalid_].name);
        }
        out.writeback = flag(cell, "writeback", at);
        out.leaves_shared = flag(cell, "leaves_shared", at);
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

    /// Refuses a hand-over that contradicts itself. The proof checks whether the whole table is coherent.
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

    std::string path_;
    toml::table root_;
    Protocol p_;
};

Protocol Protocol::load(const std::string& path) {
    return ProtocolLoader(path).load();
}

}  // namespace s80::model
