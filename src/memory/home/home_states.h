// SPDX-License-Identifier: GPL-2.0-or-later
// The home state of each line of guest-physical memory: one byte for each line. The tags of last-level cache
// and directory decide only which lines have room there, so a look-up needs neither.
#pragma once
#include <cstring>

#include "base/host_memory.h"
#include "coherence/protocol.h"

namespace s80::model {

class HomeStates {
public:
    /// All lines begin in the state `absent`.
    HomeStates(std::size_t lines, HomeState absent)
        : lines_(lines), absent_(absent), memory_(lines + sizeof(std::uint64_t), "the home states") {}

    HomeState state(Line line) const { return static_cast<HomeState>(byte(line) ^ absent_); }
    void set(Line line, HomeState state) { byte(line) = static_cast<std::uint8_t>(state ^ absent_); }
    void host_prefetch(Line line) const { model::host_prefetch(&byte(line)); }

    /// Calls `fn(line, state)` for every line that is not absent.
    template <class Fn>
    void each(Fn&& fn) const {
        for (std::size_t first = 0; first < lines_; first += sizeof(std::uint64_t)) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, memory_.data() + first, sizeof eight);
            for (std::size_t line = first; eight != 0; ++line, eight >>= 8) {
                if ((eight & 0xff) != 0) {
                    fn(static_cast<Line>(line), state(static_cast<Line>(line)));
                }
            }
        }
    }
    void clear() { memory_.clear(); }

private:
    /// 0 stands for the absent state, because the memory begins with zeros.
    std::uint8_t& byte(Line line) const { return reinterpret_cast<std::uint8_t*>(memory_.data())[line]; }

    std::size_t lines_;
    HomeState absent_;
    HostMemory memory_;
};

}  // namespace s80::model
