// SPDX-License-Identifier: GPL-2.0-or-later
// Shadow tags: a fully associative cache with LRU replacement, of the same size as an L2. A conflict miss
// misses in the L2 and hits in the shadow tags.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace s80::model {

class Shadow {
public:
    /// `lines`: at least 1.
    explicit Shadow(std::size_t lines)
        : nodes_(lines + 1),
          first_(std::bit_ceil(lines + 1)),
          shift_(32 - static_cast<unsigned>(std::countr_zero(first_.size()))) {}

    bool holds(Line line) const { return find(line) != 0; }
    /// Accesses the line: it enters, or becomes the most recently used. Returns whether it was there.
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
        std::uint32_t older = 0;  ///< index 0 is the ring's own node
        std::uint32_t younger = 0;
        std::uint32_t next = 0;  ///< with the same home; 0: none
    };

    std::size_t home(Line line) const { return line * 0x9e3779b1U >> shift_; }
    /// The line's node, or 0.
    std::uint32_t find(Line line) const {
        std::uint32_t node = first_[home(line)];
        while (node != 0 && nodes_[node].line != line) {
            node = nodes_[node].next;
        }
        return node;
    }
    /// Takes the line's node out, and returns it; or 0.
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
    /// A free node. If none is free, takes the node of the least recently used line out of the ring.
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
    std::vector<std::uint32_t> first_;  ///< nodes, by home
    unsigned shift_;                    ///< of a 32-bit hash to the number of a home
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;
};

}  // namespace s80::model
