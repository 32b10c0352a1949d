// SPDX-License-Identifier: GPL-2.0-or-later
// Shadow tags: a fully associative LRU cache of tags, as large as a core's caches. They classify misses: a
// miss that hits in the shadow tags is a conflict miss.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace s80::model {

class Shadow {
public:
    /// `lines`: number of lines for which there is room, at least 1.
    explicit Shadow(std::size_t lines)
        : nodes_(lines + 1),
          first_(std::bit_ceil(lines + 1)),
          shift_(32 - static_cast<unsigned>(std::countr_zero(first_.size()))) {}

    bool holds(Line line) const { return find(line) != 0; }
    /// Accesses the line, which enters or becomes the most recently used one. Returns whether the shadow tags
    /// held it.
    bool touch(Line line) {
        std::uint32_t node = find(line);
        const bool held = node != 0;
        if (held) {
            unlink(node);
        } else {
            node = room();
            std::uint32_t& first = first_[home(line)];
            nodes_[node].line = line;
            nodes_[node].next = first;
            first = node;
        }
        link(node);
        return held;
    }
    void drop(Line line) {
        if (const std::uint32_t node = erase(line); node != 0) {
            free_.push_back(node);
        }
    }

private:
    struct Node {
        Line line = kNoLine;
        /// Neighbours in the ring of nodes by recency; node 0 stands for no line and closes the ring.
        std::uint32_t older = 0;
        std::uint32_t younger = 0;
        std::uint32_t next = 0;  ///< next node with the same hash (home); 0: none
    };

    std::size_t home(Line line) const { return line * 0x9e3779b1U >> shift_; }
    /// The node of the line; 0: the shadow tags do not hold it.
    std::uint32_t find(Line line) const {
        std::uint32_t node = first_[home(line)];
        while (node != 0 && nodes_[node].line != line) {
            node = nodes_[node].next;
        }
        return node;
    }
    /// Removes the line, and returns its node; 0: the shadow tags did not hold it.
    std::uint32_t erase(Line line) {
        for (std::uint32_t* at = &first_[home(line)]; *at != 0; at = &nodes_[*at].next) {
            if (const std::uint32_t node = *at; nodes_[node].line == line) {
                *at = nodes_[node].next;
                unlink(node);
                return node;
            }
        }
        return 0;
    }
    /// Returns a free node. If there is none, removes the least recently used line and returns its node.
    std::uint32_t room() {
        if (!free_.empty()) {
            const std::uint32_t node = free_.back();
            free_.pop_back();
            return node;
        }
        if (used_ + 1 < nodes_.size()) {
            return static_cast<std::uint32_t>(++used_);
        }
        return erase(nodes_[nodes_[0].younger].line);
    }
    void unlink(std::uint32_t node) {
        nodes_[nodes_[node].older].younger = nodes_[node].younger;
        nodes_[nodes_[node].younger].older = nodes_[node].older;
    }
    void link(std::uint32_t node) {
        nodes_[node].older = nodes_[0].older;
        nodes_[node].younger = 0;
        nodes_[nodes_[0].older].younger = node;
        nodes_[0].older = node;
    }

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> first_;  ///< first node of each hash value (home); 0: none
    unsigned shift_;                    ///< shift from a 32-bit hash to an index of first_
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;
};

}  // namespace s80::model
