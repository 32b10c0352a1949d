// SPDX-License-Identifier: GPL-2.0-or-later
// The phase page: a page of the guest's memory in which the plugin writes the phase of the run (warm-up,
// measured region, done), and the load generator reads it (docs/reference/interfaces/markers.md).
#pragma once
#include <cstdint>
#include <cstring>

#include "base/types.h"
#include "plugin/guest_ram.h"
#include "plugin/schedule.h"

namespace s80::plugin {

class PhasePage {
public:
    /// The load generator offers the page at this guest-physical address. Takes it, or throws model::Error if
    /// the page does not begin as a phase page.
    void accept(GuestRam& ram, std::uint64_t physical) {
        words_ = reinterpret_cast<std::uint64_t*>(ram.host(physical));
        if (words_ == nullptr || std::memcmp(words_, "S80PAGE0", 8) != 0) {
            throw model::Error(
                "the load generator's phase page is not at its address; check the plugin argument low_ram");
        }
        std::memcpy(words_, "S80PAGE1", 8);
        physical_ = physical;
    }
    /// In a restored guest: uses the page at this guest-physical address, which the load generator offered
    /// before the checkpoint.
    void restore(GuestRam& ram, std::uint64_t physical) {
        words_ = reinterpret_cast<std::uint64_t*>(ram.host(physical));
        if (words_ == nullptr || std::memcmp(words_, "S80PAGE1", 8) != 0) {
            throw model::Error("the guest's memory and the model's state are not of the same checkpoint");
        }
        physical_ = physical;
    }
    std::uint64_t physical() const { return physical_; }

    void publish(Phase phase) {
        if (words_ != nullptr) {
            words_[1] = static_cast<std::uint64_t>(phase);
        }
    }

private:
    std::uint64_t* words_ = nullptr;
    std::uint64_t physical_ = 0;
};

}  // namespace s80::plugin
