// SPDX-License-Identifier: GPL-2.0-or-later
// One access of a core beyond its L1.
#pragma once
#include <cstdint>

#include "base/types.h"

namespace s80::model {

/// Small enough to be passed in one register.
struct Access {
    Line line;
    Kind kind;
    Context context;
    std::uint8_t core;
    std::uint8_t way;  ///< way of the L1 that the line must get; kAnyWay: any
};

/// Value of `way`: the replacement policy chooses the way.
inline constexpr std::uint8_t kAnyWay = 0xff;

}  // namespace s80::model
