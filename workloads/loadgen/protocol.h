// SPDX-License-Identifier: GPL-2.0-or-later
// The protocols of the clients, each with its own transactions and its own kind of client.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "transaction_type.h"

namespace s80::loadgen {

class Client;
struct World;

struct Protocol {
    std::string_view name;    // in the job, and of the option that says where the server listens
    std::string_view server;  // where it does in the guest; empty of scripts, which speak several
    std::span<const std::string_view> transactions;
    std::unique_ptr<Client> (*make_client)(World& world, unsigned index);
    std::string_view plain = {};  // where it listens in the guest without TLS, if the job wants that
};

extern const Protocol imap_protocol, pop3_protocol, web_protocol, jbb_protocol, rtp_protocol, route_protocol,
    probe_protocol, script_protocol;

std::span<const Protocol* const> protocols();

/// The protocol with that name, or null.
const Protocol* find_protocol(std::string_view name);

}  // namespace s80::loadgen
