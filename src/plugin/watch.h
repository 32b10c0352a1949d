// SPDX-License-Identifier: GPL-2.0-or-later
// Reads counters of the guest's kernel from the guest's RAM when a snapshot is due
// (docs/reference/interfaces/guest-kernel.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/guest_ram.h"

namespace s80::plugin {

class Watch {
public:
    /// `path`: file with the list of counters; empty: no counters. Throws model::Error that names the line.
    Watch(const std::string& path, GuestRam& ram);

    /// Adds a counter that the plugin keeps itself. `counter` must outlive this object.
    void add(const std::string& name, const std::uint64_t& counter);

    const std::vector<std::string>& names() const { return names_; }
    /// The present values of the counters, in the order of names(). Values with the same name are added up.
    /// Throws model::Error if an address is outside of the guest's RAM.
    std::vector<std::uint64_t> read();

private:
    struct Value {
        std::size_t name = 0;
        std::uint64_t address = 0;
        unsigned size = 0;
        bool guarded = false;
        std::uint64_t guard_address = 0;
        std::uint32_t guard = 0;
        /// The value when it was last read; kept while the guard's value in guest memory differs from
        /// `guard`.
        std::uint64_t last = 0;
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
