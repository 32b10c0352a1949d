// SPDX-License-Identifier: GPL-2.0-or-later
// A set-associative LRU cache, written as one would explain it: a list a set, most recent first.
#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

namespace s80::reference {

/// `KernelEntry` has a member `line`.
template <typename KernelEntry>
class RecencySets {
public:
    RecencySets(unsigned sets, unsigned ways) : sets_(sets), ways_(ways) {}

    /// Null when the line is absent. The order stays as it is.
    KernelEntry* find(std::uint32_t line) {
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
    std::optional<KernelEntry> make_room(std::uint32_t line) {
        auto& set = set_of(line);
        if (set.size() < ways_) {
            return std::nullopt;
        }
        const KernelEntry victim = set.back();
        set.pop_back();
        return victim;
    }

    /// There is room.
    void insert(const KernelEntry& entry) { set_of(entry.line).push_front(entry); }

    std::optional<KernelEntry> remove(std::uint32_t line) {
        auto& set = set_of(line);
        const auto at = position(set, line);
        if (at == set.end()) {
            return std::nullopt;
        }
        const KernelEntry entry = *at;
        set.erase(at);
        return entry;
    }

    const std::vector<std::list<KernelEntry>>& sets() const { return sets_; }

private:
    std::list<KernelEntry>& set_of(std::uint32_t line) { return sets_[line % sets_.size()]; }
    static auto position(std::list<KernelEntry>& set, std::uint32_t line) {
        return std::find_if(set.begin(), set.end(),
                            [line](const KernelEntry& entry) { return entry.line == line; });
    }

    std::vector<std::list<KernelEntry>> sets_;
    std::size_t ways_;
};

}  // namespace s80::reference
