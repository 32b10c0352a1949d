// SPDX-License-Identifier: GPL-2.0-or-later
#include "altered_table.h"

#include <fstream>
#include <sstream>
#include "base/toml.h"

namespace s80::reference {

namespace {

class Alterations {
public:
    Alterations(const std::string& path, const Table& table) : file_(model::parse_toml(path)), table_(table) {
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);) {
            lines_.push_back(line);
        }
    }

    std::vector<Alteration> all() {
        for (const auto& [event, cells] : table_.own) {
            for (const auto& [state, cell] : cells) {
                if (cell.met != 0) {
                    next_states("own", event, state);
                }
                if (cell.met != 0 && event == "evict") {
                    flip("own", event, state, "writeback");
                    if (cell.put && !cell.writeback && table_.put_row(state) == "put.owner") {
                        flip("own", event, state, "put");
                    }
                }
            }
        }
        for (const auto& [request, cells] : table_.remote) {
            for (const auto& [state, cell] : cells) {
                if (cell.met != 0) {
                    next_states("remote", request, state);
                    flip("remote", request, state, "supply");
                    flip("remote", request, state, "writeback");
                }
            }
        }
        return std::move(all_);
    }

    std::vector<Alteration> of_the_home() {
        for (const auto& [event, cells] : table_.home) {
            for (const auto& [state, cell] : cells) {
                if (cell.met == 0) {
                    continue;
                }
                for (const auto& [other, facts] : table_.home_facts) {
                    for (const char* key : {"next", "alone", "shared", "clean", "dirty"}) {
                        change("home", event, state, key, other);
                    }
                }
                for (const char* key : {"supply", "first", "writeback", "recall"}) {
                    flip("home", event, state, key);
                }
                if (cell.grants_shared) {
                    toml::table less = cell_of("home", event, state);
                    less.erase("grants");
                    add("home", event, state, less, "no grants");
                }
            }
        }
        return std::move(all_);
    }

private:
    toml::node_view<const toml::node> at(const std::string& side, const std::string& event,
                                         const std::string& state) const {
        return file_.at_path(side + "." + event + "." + state);
    }
    toml::table cell_of(const std::string& side, const std::string& event, const std::string& state) const {
        return *at(side, event, state).as_table();
    }

    void next_states(const std::string& side, const std::string& event, const std::string& state) {
        for (const char* key : {"next", "alone", "shared", "gives"}) {
            for (const std::string& other : table_.states) {
                change(side, event, state, key, other);
            }
        }
    }

    /// If the cell has the key with another value.
    void change(const std::string& side, const std::string& event, const std::string& state, const char* key,
                const std::string& other) {
        const auto old = at(side, event, state)[key].value<std::string>();
        if (old && *old != other) {
            toml::table cell = cell_of(side, event, state);
            cell.insert_or_assign(key, other);
            add(side, event, state, cell, std::string(key) + " = " + other + " instead of " + *old);
        }
    }

    void flip(const std::string& side, const std::string& event, const std::string& state, const char* key) {
        toml::table cell = cell_of(side, event, state);
        const bool value = !cell[key].value_or(false);
        cell.insert_or_assign(key, value);
        add(side, event, state, cell, std::string(key) + (value ? " = true" : " = false"));
    }

    void add(const std::string& side, const std::string& event, const std::string& state, toml::table& cell,
             const std::string& what) {
        cell.is_inline(true);
        std::ostringstream value;
        value << cell;
        std::vector<std::string> lines = lines_;
        lines[at(side, event, state).node()->source().begin.line - 1] = state + " = " + value.str();
        std::string text;
        for (const std::string& line : lines) {
            text += line + '\n';
        }
        all_.push_back({side + "." + event + " " + state + ": " + what, text});
    }

    const toml::table file_;
    const Table& table_;
    std::vector<std::string> lines_;
    std::vector<Alteration> all_;
};

}  // namespace

std::vector<Alteration> alterations(const std::string& path, const Table& table) {
    return Alterations(path, table).all();
}

std::vector<Alteration> home_alterations(const std::string& path, const Table& table) {
    return Alterations(path, table).of_the_home();
}

}  // namespace s80::reference
