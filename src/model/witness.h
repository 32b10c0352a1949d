// SPDX-License-Identifier: GPL-2.0-or-later
// Who is told of each request to the bus, while the hierarchy serves it.
#pragma once
#include <cstdint>

#include "model/types.h"

namespace s80::model {

inline constexpr std::uint8_t kNobody = 0xff;

/// What the bus answered.
struct Answered {
    Source source = Source::memory;
    std::uint8_t supplier = kNobody;  ///< a core
    std::uint32_t holders = 0;        ///< other cores that had a copy, a bit each
    unsigned stall = 0;               ///< cycles
};

class Witness {
public:
    virtual ~Witness() = default;
    /// An access that its L1 does not satisfy, before anything changes.
    virtual void beyond_l1(unsigned core, Line line) = 0;
    /// It missed and the block is on its way.
    virtual void missed(unsigned core, Line line, const Answered& answer) = 0;
    /// It asked for the right to store to a copy.
    virtual void upgraded(unsigned core, Line line, const Answered& answer) = 0;
    /// A request of another core took this core's copy.
    virtual void lost(unsigned core, Line line) = 0;
};

}  // namespace s80::model
