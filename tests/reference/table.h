// SPDX-License-Identifier: GPL-2.0-or-later
// The reference's own reading of a protocol table: names and maps, as the file has them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace s80::reference {

/// The reference met something that a sound protocol never does.
struct Unsound : std::logic_error {
    using std::logic_error::logic_error;
};

struct OwnCell {
    bool possible = false;
    mutable std::uint64_t met = 0;  ///< times that it was looked up
    std::string bus;                ///< "read", "rfo", "upgrade", or empty
    std::string next_alone, next_shared;
    bool writeback = false;
    bool put = false;  ///< evict: the home learns of it
};

struct RemoteCell {
    bool possible = false;
    mutable std::uint64_t met = 0;
    std::string next;
    bool supply = false;
    bool writeback = false;
    std::string gives;  ///< empty: the requester's own cell says what it fills in
};

/// What a home does.
struct HomeCell {
    bool possible = false;
    mutable std::uint64_t met = 0;
    std::string alone_clean, alone_dirty, shared_clean, shared_dirty;  ///< the next state
    bool grants_shared = false;
    bool supply = false;
    bool first = false;
    std::string gives;
    bool writeback = false;
    bool recall = false;

    const std::string& after(bool others_keep, bool written_back) const {
        return others_keep ? (written_back ? shared_dirty : shared_clean)
                           : (written_back ? alone_dirty : alone_clean);
    }
};

struct HomeFacts {
    bool data = false;
    std::string copies;
};

/// The textbook name of a state, and what its holder may do.
struct StateFacts {
    std::string counts_as;
    bool readable = false;
    bool writable = false;
};

struct Table {
    std::string name;
    std::string l2_inclusion;         ///< empty: either
    std::vector<std::string> states;  ///< in file order, which is the order in which they supply
    std::map<std::string, StateFacts> facts;
    std::string invalid;                                              ///< the one state that cannot be read
    std::map<std::string, std::map<std::string, OwnCell>> own;        ///< event -> state -> cell
    std::map<std::string, std::map<std::string, RemoteCell>> remote;  ///< request -> state -> cell
    std::map<std::string, std::map<std::string, HomeCell>> home;      ///< event -> home state -> cell
    std::map<std::string, HomeFacts> home_facts;
    std::string absent;  ///< the home's state of a line that it knows nothing of; empty: there is no [home]

    /// Throws std::runtime_error when there is no such file or it is not TOML.
    static Table read(const std::string& path);

    /// The cell of an event; throws Unsound when the table says that it cannot happen.
    const OwnCell& own_cell(const std::string& event, const std::string& state) const;
    const RemoteCell& remote_cell(const std::string& request, const std::string& state) const;
    const HomeCell& home_cell(const std::string& event, const std::string& state) const;
    /// The row of a put from this state: put.sharer, put.exclusive or put.owner.
    std::string put_row(const std::string& state) const;
    /// The cells that could be met and were not. An absent block is not asked by others: its cells do not
    /// count.
    std::vector<std::string> unmet() const;
    /// The possible cells of the home and of recalled copies that were not met.
    std::vector<std::string> unmet_at_home() const;
    /// Position in the order of supply.
    std::size_t rank(const std::string& state) const;
};

}  // namespace s80::reference
