// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of the guest's kernel, read from its RAM when a snapshot is due
// (docs/reference/interfaces/guest-kernel.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/guest_ram.h"

namespace s80::plugin {

class Watch {
public:
    /// Reads the list of counters; an empty path: no counters. Throws model::Error that names the line.
    Watch(const std::string& path, GuestRam& ram);

    /// Adds a counter of the plugin itself, which must outlive this object.
    void add(const std::string& name, const std::uint64_t& counter);

    const std::vector<std::string>& names() const { return names_; }
    /// The sums of the values of each name, in the order of `names`. Throws model::Error if an address lies
    /// outside of the guest's RAM.
    std::vector<std::uint64_t> read();

private:
    struct Value {
        std::size_t name = 0;
        std::uint64_t address = 0;
        unsigned size = 0;
        bool guarded = false;
        std::uint64_t guard_address = 0;
        std::uint32_t guard = 0;
        std::uint64_t last = 0;  ///< last value that was read while its guard held
    };
    struct Own {
        std::size_t name = 0;
        const std::uint64_t* counter = nullptr;
    };
    void add(const std::string& line);
    GuestRam& ram_;
    std::vector<std::string> names_;
    std::vector<Value> values_;
    std::vector<Own> own_;
};

}  // namespace s80::plugin
