// SPDX-License-Identifier: GPL-2.0-or-later
// A set-associative LRU cache, written as one would explain it: a list a set, most recent first.
#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

namespace s80::reference {

/// `Entry` has a member `line`.
template <typename Entry>
class RecencySets {
public:
    RecencySets(unsigned sets, unsigned ways) : sets_(sets), ways_(ways) {}

    /// Null when the line is absent. The order stays as it is.
    Entry* find(std::uint32_t line) {
        auto& set = set_of(line);
        const auto at = position(set, line);
        return at == set.end() ? nullptr : &*at;
    }

    /// The line is the most recent of its set from now on.
    void use(std::uint32_t line) {
        auto& set = set_of(line);
        set.splice(set.begin(), set, position(set, line));
    }

    bool full(std::uint32_t line) { return set_of(line).size() == ways_; }

    /// Takes the least recent entry out of the set of this line, if that set is full.
    std::optional<Entry> make_room(std::uint32_t line) {
        auto& set = set_of(line);
        if (set.size() < ways_) {
            return std::nullopt;
        }
        const Entry victim = set.back();
        set.pop_back();
        return victim;
    }

    /// There is room.
    void insert(const Entry& entry) { set_of(entry.line).push_front(entry); }

    std::optional<Entry> remove(std::uint32_t line) {
        auto& set = set_of(line);
        const auto at = position(set, line);
        if (at == set.end()) {
            return std::nullopt;
        }
        const Entry entry = *at;
        set.erase(at);
        return entry;
    }

    const std::vector<std::list<Entry>>& sets() const { return sets_; }

private:
    std::list<Entry>& set_of(std::uint32_t line) { return sets_[line % sets_.size()]; }
    static auto position(std::list<Entry>& set, std::uint32_t line) {
        return std::find_if(set.begin(), set.end(),
                            [line](const Entry& entry) { return entry.line == line; });
    }

    std::vector<std::list<Entry>> sets_;
    std::size_t ways_;
};

}  // namespace s80::reference
