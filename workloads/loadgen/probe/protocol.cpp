// SPDX-License-Identifier: GPL-2.0-or-later
// COPY: copies memory. PASS: two processes pass a token to each other. KEEP: one process passes it to
// itself.
#include "protocol.h"

#include <array>

#include "probe/probe_client.h"

namespace s80::loadgen {

namespace {

enum : TransactionType { COPYING, PASSING };
constexpr std::array<std::string_view, 3> kNames = {"COPY", "PASS", "KEEP"};

}  // namespace

const Protocol probe_protocol = {"probe", "127.0.0.1:5002", kNames,
                                 [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                     return std::make_unique<ProbeClient>(world, index);
                                 }};

Task ProbeClient::run(TransactionType type) {
    if (type == COPYING) {
        return copy();
    }
    return walk(type == PASSING ? "PASS" : "KEEP");
}

}  // namespace s80::loadgen
