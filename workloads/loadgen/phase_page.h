// SPDX-License-Identifier: GPL-2.0-or-later
// A page of memory in which the plugin writes the phase of the run (docs/reference/interfaces/markers.md).
#pragma once

#include <cstdint>

namespace s80::loadgen {

enum class Phase : std::uint64_t { warm_up = 0, measured = 1, done = 2 };

class PhasePage {
public:
    PhasePage() = default;
    PhasePage(const PhasePage&) = delete;
    PhasePage& operator=(const PhasePage&) = delete;

    /// Offers a page to the plugin. Call this once, before the load.
    void offer();
    /// Whether a plugin has accepted the page.
    bool accepted() const { return page_ != nullptr; }
    /// The phase of an accepted page.
    Phase phase() const { return static_cast<Phase>(page_[1]); }

private:
    volatile std::uint64_t* page_ = nullptr;
};

}  // namespace s80::loadgen
