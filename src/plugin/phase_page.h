// SPDX-License-Identifier: GPL-2.0-or-later
// The page of the guest's memory in which the load generator reads the phase of the run
// (docs/reference/interfaces/markers.md).
#pragma once
#include <cstdint>
#include <cstring>

#include "base/types.h"
#include "plugin/guest_ram.h"
#include "plugin/schedule.h"

namespace s80::plugin {

class PhasePage {
public:
    /// Accepts the page at this guest-physical address, which the guest offers by a store to its second word.
    void accept(GuestRam& ram, std::uint64_t physical) {
        words_ = reinterpret_cast<std::uint64_t*>(ram.host(physical));
        if (words_ == nullptr || std::memcmp(words_, "S80PAGE0", 8) != 0) {
            throw model::Error(
                "the load generator's phase page is not at its address; check the plugin argument low_ram");
        }
        std::memcpy(words_, "S80PAGE1", 8);
        physical_ = physical;
    }
    /// Uses the page at this guest-physical address, which a checkpoint contained.
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
