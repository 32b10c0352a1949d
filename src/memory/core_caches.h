// SPDX-License-Identifier: GPL-2.0-or-later
// The tag arrays of one agent: of a core, or of a group cache, which has an L2 alone.
#pragma once
#include "base/types.h"
#include "cache/cache.h"

namespace s80::model {

struct CoreCaches {
    Cache l1i, l1d, l2;
    Cache& l1(Kind kind) { return kind == Kind::ifetch ? l1i : l1d; }
    const Cache& l1(Kind kind) const { return kind == Kind::ifetch ? l1i : l1d; }
};

}  // namespace s80::model
