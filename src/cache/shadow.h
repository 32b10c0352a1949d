// SPDX-License-Identifier: GPL-2.0-or-later
// Shadow tags: a fully associative cache with LRU replacement, of the same size as an L2. A conflict miss
// misses in the L2 and hits in the shadow tags.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/types.h"

namespace s80::model {

class Shadow {
public:
    explicit Shadow(std::size_t lines) : nodes_(lines + 1) { place_.reserve(lines * 2); }

    bool holds(Line line) const { return place_.contains(line); }
    /// Accesses the line: it enters, or becomes the most recently used.
    void touch(Line line) {
        auto [it, fresh] = place_.try_emplace(line, 0);
        if (fresh) {
            it->second = room();
            nodes_[it->second].line = line;
        } else {
            unlink(it->second);
        }
        link(it->second);
    }
    void drop(Line line) {
        if (const auto it = place_.find(line); it != place_.end()) {
            unlink(it->second);
            free_.push_back(it->second);
            place_.erase(it);
        }
    }

private:
    struct Node {
        Line line = kNoLine;
        std::uint32_t older = 0;  ///< index 0 is the ring's own node
        std::uint32_t younger = 0;
    };
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
        const std::uint32_t oldest = nodes_[0].younger;
        unlink(oldest);
        place_.erase(nodes_[oldest].line);
        return oldest;
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
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;
    std::unordered_map<Line, std::uint32_t> place_;
};

}  // namespace s80::model
