// SPDX-License-Identifier: GPL-2.0-or-later
// QEMU's round, as far as a test looks at it.
#pragma once
#include <set>

#include "plugin/round.h"

namespace s80::plugin {

/// Knows which processors are left out.
class FakeRound final : public Round {
public:
    void leave_out(unsigned processor) override { out.insert(processor); }
    void take_in(unsigned processor) override { out.erase(processor); }

    std::set<unsigned> out;
};

}  // namespace s80::plugin
