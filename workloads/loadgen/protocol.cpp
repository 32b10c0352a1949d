// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol.h"

#include <array>

namespace s80::loadgen {

std::span<const Protocol* const> protocols() {
    static constexpr std::array<const Protocol*, 8> kAll = {&imap_protocol,  &pop3_protocol,  &web_protocol,
                                                            &jbb_protocol,   &rtp_protocol,   &route_protocol,
                                                            &probe_protocol, &script_protocol};
    return kAll;
}

const Protocol* find_protocol(std::string_view name) {
    for (const Protocol* protocol : protocols()) {
        if (protocol->name == name) {
            return protocol;
        }
    }
    return nullptr;
}

}  // namespace s80::loadgen
