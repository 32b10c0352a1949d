// SPDX-License-Identifier: GPL-2.0-or-later
// The page of the guest's memory through which the load generator reads simulated time
// (docs/reference/interfaces/clock-page.md).
#pragma once
#include <cstdint>
#include <cstring>

#include "model/types.h"
#include "plugin/guest_ram.h"

namespace s80::plugin {

class ClockPage {
public:
    /// Accepts the page at this guest-physical address, which the guest offers by a store to its second word.
    void accept(GuestRam& ram, std::uint64_t physical) {
        words_ = reinterpret_cast<std::uint64_t*>(ram.host(physical));
        if (words_ == nullptr || std::memcmp(words_, "S80PAGE0", 8) != 0) {
            throw model::Error(
                "the load generator's clock page is not at its address; check the plugin argument low_ram");
        }
        std::memcpy(words_, "S80PAGE1", 8);
        physical_ = physical;
    }
    /// The page of a restored checkpoint.
    void restore(GuestRam& ram, std::uint64_t physical) {
        words_ = reinterpret_cast<std::uint64_t*>(ram.host(physical));
        if (words_ == nullptr || std::memcmp(words_, "S80PAGE1", 8) != 0) {
            throw model::Error("the guest's memory and the model's state are not of the same checkpoint");
        }
        physical_ = physical;
    }
    bool known() const { return words_ != nullptr; }
    std::uint64_t physical() const { return physical_; }

    void publish(std::uint64_t clock_ns, std::uint64_t phase) {
        if (words_ != nullptr) {
            words_[1] = clock_ns;
            words_[2] = phase;
        }
    }

private:
    std::uint64_t* words_ = nullptr;
    std::uint64_t physical_ = 0;
};

}  // namespace s80::plugin
