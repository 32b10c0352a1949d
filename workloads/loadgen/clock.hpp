// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of the load generator: simulated time, from a page that the plugin writes, or, without a plugin,
// the monotonic clock of the guest or host.
#pragma once

#include <cstdint>
#include <string_view>

namespace s80::loadgen {

inline constexpr std::uint64_t ns_per_s = 1'000'000'000;

enum class Phase : std::uint64_t { warm_up = 0, measured = 1, done = 2 };

class Clock {
public:
    /// `name`: the name of the monotonic clock in the result, "guest" or "host".
    explicit Clock(std::string_view name) : name_(name) { refresh(); }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

    /// Offers a page to the plugin, and uses it if the plugin answers. Call this once, before the load.
    void register_page();

    /// Reads the time. Called once per iteration of the event loop.
    void refresh();

    std::uint64_t now() const { return now_; }
    bool modelled() const { return page_ != nullptr; }
    std::string_view name() const { return modelled() ? "modelled" : name_; }
    Phase phase() const { return phase_; }  // of the page; warm_up without one

private:
    std::string_view name_;
    volatile std::uint64_t* page_ = nullptr;
    std::uint64_t now_ = 0;
    Phase phase_ = Phase::warm_up;
};

}  // namespace s80::loadgen
