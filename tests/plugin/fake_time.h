// SPDX-License-Identifier: GPL-2.0-or-later
// Virtual time that a test moves. It records what the plugin sets.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "plugin/virtual_time.h"

namespace s80::plugin {

class FakeTime final : public VirtualTime {
public:
    struct End {
        std::int64_t ns = 0;
        std::uint64_t instructions = 0;
        bool operator==(const End&) const = default;
    };

    std::int64_t now() const override { return ns; }
    void begin_slice(std::int64_t begin) override {
        ns = begin;
        begins.push_back(begin);
    }
    void advance(std::int64_t by) override { ns += by; }
    std::int64_t next_timer() const override { return timer; }
    void end_slice(std::int64_t end, std::uint64_t instructions) override {
        ns = end;
        ends.push_back({end, instructions});
    }

    std::int64_t ns = 0;
    std::int64_t timer = std::numeric_limits<std::int64_t>::max();  ///< when the guest's next timer is due
    std::vector<std::int64_t> begins;
    std::vector<End> ends;
};

}  // namespace s80::plugin
