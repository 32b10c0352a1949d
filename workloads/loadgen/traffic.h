// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of application bytes, inside TLS: for a connection, a client, or a transaction type.
#pragma once

#include <cstdint>

namespace s80::loadgen {

struct Traffic {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    std::uint64_t body = 0;  // of what came in, bodies of HTTP replies

    Traffic& operator+=(const Traffic& more) {
        in += more.in;
        out += more.out;
        body += more.body;
        return *this;
    }
    friend Traffic operator+(Traffic one, const Traffic& other) { return one += other; }
    friend Traffic operator-(const Traffic& later, const Traffic& earlier) {
        return {later.in - earlier.in, later.out - earlier.out, later.body - earlier.body};
    }
};

}  // namespace s80::loadgen
