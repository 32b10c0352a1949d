// SPDX-License-Identifier: GPL-2.0-or-later
// The table [latency] of machine files. Only Topology and the code that reads machine files use it.
#pragma once
#include <array>

#include "base/key.h"
#include "machine/keys.h"

namespace s80::model {

struct Latency {  ///< stall cycles beyond the base cycle
    unsigned l2_hit = 0;
    unsigned memory = 0;
    unsigned cache = 0;
    unsigned upgrade = 0;
    unsigned llc = 0;    ///< the last-level cache sends the data
    unsigned group = 0;  ///< the group cache of the core sends the data

    static constexpr std::array kKeys{
        Key{.name = "latency.l2_hit", .unit = "cycles", .text = "an access that the L2 services"},
        Key{.name = "latency.memory", .unit = "cycles", .text = "a miss that memory services"},
        Key{.name = "latency.cache", .unit = "cycles", .text = "a cache-to-cache transfer"},
        Key{.name = "latency.upgrade", .unit = "cycles", .text = "a bus request for write permission only"},
        Key{.name = "latency.llc", .optional = true, .unit = "cycles", .text = "a miss that [llc] services"},
        Key{.name = "latency.group",
            .optional = true,
            .unit = "cycles",
            .text = "a miss that [group] services"},
    };
    static Latency read(const Keys& keys) {
        Latency read{keys.number(kKeys[0]), keys.number(kKeys[1]), keys.number(kKeys[2]),
                     keys.number(kKeys[3])};
        if (keys.has_table("llc")) {
            read.llc = keys.number(kKeys[4]);
        }
        if (keys.has_table("group")) {
            read.group = keys.number(kKeys[5]);
        }
        return read;
    }

    Latency& operator*=(unsigned factor) {
        for (unsigned* cycles : {&l2_hit, &memory, &cache, &upgrade, &llc, &group}) {
            *cycles *= factor;
        }
        return *this;
    }
};

}  // namespace s80::model
