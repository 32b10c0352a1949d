// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <algorithm>
#include "base/toml.h"

namespace s80::reference {

namespace {

OwnCell read_own(const toml::table& cell) {
    OwnCell read;
    read.possible = !cell.contains("impossible");
    read.bus = cell["bus"].value_or(std::string());
    const auto next = cell["next"].value_or(std::string());
    read.next_alone = cell["alone"].value_or(next);
    read.next_shared = cell["shared"].value_or(next);
    read.writeback = cell["writeback"].value_or(false);
    read.put = read.writeback || cell["put"].value_or(false);
    return read;
}

RemoteCell read_remote(const toml::table& cell) {
    RemoteCell read;
    read.possible = !cell.contains("impossible");
    read.next = cell["next"].value_or(std::string());
    read.supply = cell["supply"].value_or(false);
    read.writeback = cell["writeback"].value_or(false);
    read.gives = cell["gives"].value_or(std::string());
    return read;
}

HomeCell read_home(const toml::table& cell) {
    HomeCell read;
    read.possible = !cell.contains("impossible");
    const auto next = cell["next"].value_or(std::string());
    const auto clean = cell["clean"].value_or(next);
    const auto dirty = cell["dirty"].value_or(next);
    read.alone_clean = cell["alone"].value_or(clean);
    read.alone_dirty = cell["alone"].value_or(dirty);
    read.shared_clean = cell["shared"].value_or(clean);
    read.shared_dirty = cell["shared"].value_or(dirty);
    read.grants_shared = cell.contains("grants");
    read.supply = cell["supply"].value_or(false);
    read.first = cell["first"].value_or(false);
    read.gives = cell["gives"].value_or(std::string());
    read.writeback = cell["writeback"].value_or(false);
    read.recall = cell["recall"].value_or(false);
    return read;
}

/// toml++ sorts a table by key; the order of the file is in the positions of the keys.
std::vector<std::string> in_file_order(const toml::table& table) {
    std::vector<std::pair<toml::source_position, std::string>> keys;
    for (const auto& [key, value] : table) {
        keys.emplace_back(key.source().begin, std::string(key.str()));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::string> names;
    for (const auto& [position, name] : keys) {
        names.push_back(name);
    }
    return names;
}

void read_home_row(Table& table, const std::string& event, const toml::table& cells) {
    for (const auto& [state, cell] : cells) {
        table.home[event][std::string(state.str())] = read_home(*cell.as_table());
    }
}

void read_home_rows(const toml::table& file, Table& table) {
    const auto* home = file["home"].as_table();
    if (home == nullptr) {
        return;
    }
    for (const auto& [name, state] : *(*home)["states"].as_table()) {
        HomeFacts& facts = table.home_facts[std::string(name.str())];
        facts.copies = (*state.as_table())["copies"].value_or(std::string());
        facts.data = (*state.as_table())["data"].value_or(false);
        if (facts.copies == "none" && !facts.data) {
            table.absent = std::string(name.str());
        }
    }
    for (const char* event : {"read", "rfo", "upgrade", "displace", "recall"}) {
        if (const auto* cells = (*home)[event].as_table()) {
            read_home_row(table, event, *cells);
        }
    }
    for (const char* giver : {"sharer", "exclusive", "owner"}) {
        if (const auto* cells = (*home)["put"][giver].as_table()) {
            read_home_row(table, std::string("put.") + giver, *cells);
        }
    }
    if (const auto* cells = (*home)["fetch"].as_table()) {
        read_home_row(table, "fetch", *cells);
    }
}

template <typename Cell>
const Cell& possible(const std::map<std::string, std::map<std::string, Cell>>& cells, const char* side,
                     const std::string& event, const std::string& state) {
    const Cell& cell = cells.at(event).at(state);
    if (!cell.possible) {
        throw Unsound(std::string("impossible cell reached: ") + side + "." + event + " " + state);
    }
    cell.met += 1;
    return cell;
}

}  // namespace

Table Table::read(const std::string& path) {
    const toml::table file = model::parse_toml(path);
    Table table;
    table.name = file["name"].value_or(std::string());
    table.l2_inclusion = file["l2_inclusion"].value_or(std::string());
    table.states = in_file_order(*file["states"].as_table());
    for (const std::string& state : table.states) {
        const auto entry = file["states"][state];
        table.facts[state] = {entry["counts_as"].value_or(std::string()), entry["readable"].value_or(false),
                              entry["writable"].value_or(false)};
        if (!table.facts[state].readable) {
            table.invalid = state;
        }
    }
    for (const auto& [event, cells] : *file["own"].as_table()) {
        for (const auto& [state, cell] : *cells.as_table()) {
            table.own[std::string(event.str())][std::string(state.str())] = read_own(*cell.as_table());
        }
    }
    for (const auto& [request, cells] : *file["remote"].as_table()) {
        for (const auto& [state, cell] : *cells.as_table()) {
            table.remote[std::string(request.str())][std::string(state.str())] =
                read_remote(*cell.as_table());
        }
    }
    read_home_rows(file, table);
    return table;
}

const OwnCell& Table::own_cell(const std::string& event, const std::string& state) const {
    return possible(own, "own", event, state);
}

const RemoteCell& Table::remote_cell(const std::string& request, const std::string& state) const {
    return possible(remote, "remote", request, state);
}

const HomeCell& Table::home_cell(const std::string& event, const std::string& state) const {
    return possible(home, "home", event == "fetch" && home.count(event) == 0 ? "read" : event, state);
}

std::string Table::put_row(const std::string& state) const {
    const std::string& as = facts.at(state).counts_as;
    return as == "S" ? "put.sharer" : as == "O" ? "put.owner" : "put.exclusive";
}

std::vector<std::string> Table::unmet() const {
    std::vector<std::string> names;
    for (const auto& [event, cells] : own) {
        for (const auto& [state, cell] : cells) {
            if (cell.possible && cell.met == 0) {
                names.push_back("own." + event + " " + state);
            }
        }
    }
    for (const auto& [request, cells] : remote) {
        for (const auto& [state, cell] : cells) {
            // A home without last-level cache and with a directory that knows every copy recalls nothing.
            if (cell.possible && cell.met == 0 && state != invalid && request != "recall") {
                names.push_back("remote." + request + " " + state);
            }
        }
    }
    for (const auto& [event, cells] : home) {
        for (const auto& [state, cell] : cells) {
            if (cell.possible && cell.met == 0 && event != "recall") {
                names.push_back("home." + event + " " + state);
            }
        }
    }
    return names;
}

std::vector<std::string> Table::unmet_at_home() const {
    std::vector<std::string> names;
    for (const auto& [event, cells] : home) {
        for (const auto& [state, cell] : cells) {
            if (cell.possible && cell.met == 0) {
                names.push_back("home." + event + " " + state);
            }
        }
    }
    const auto recalled = remote.find("recall");
    for (const auto& [state, cell] : recalled->second) {
        if (cell.possible && cell.met == 0 && state != invalid) {
            names.push_back("remote.recall " + state);
        }
    }
    return names;
}

std::size_t Table::rank(const std::string& state) const {
    return static_cast<std::size_t>(std::find(states.begin(), states.end(), state) - states.begin());
}

}  // namespace s80::reference
