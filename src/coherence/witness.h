// SPDX-License-Identifier: GPL-2.0-or-later
// The coherence listener (`Witness`): is notified of each bus request while the hierarchy services it.
#pragma once
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"

namespace s80::model {

inline constexpr std::uint8_t kNobody = 0xff;

/// The answer to a bus request.
struct Answered {
    Source source = Source::memory;
    std::uint8_t supplier = kNobody;  ///< a core
    CoreSet holders;                  ///< sharers: other cores that had a copy
    unsigned stall = 0;               ///< cycles
};

class Witness {
public:
    virtual ~Witness() = default;
    /// An access that its L1 cannot satisfy, before any change.
    virtual void beyond_l1(unsigned core, Line line) = 0;
    /// The access missed, and its block is being transferred.
    virtual void missed(unsigned core, Line line, const Answered& answer) = 0;
    /// The core requested write permission for its copy.
    virtual void upgraded(unsigned core, Line line, const Answered& answer) = 0;
    /// A request of another core invalidated this core's copy.
    virtual void lost(unsigned core, Line line) = 0;
};

}  // namespace s80::model
