// SPDX-License-Identifier: GPL-2.0-or-later
// PLAY: plays a part of a medium, from DESCRIBE to TEARDOWN.
#include "protocol.h"

#include <array>

#include "rtp/rtp_client.h"

namespace s80::loadgen {

namespace {

constexpr std::array<std::string_view, 1> kNames = {"PLAY"};

}  // namespace

const Protocol rtp_protocol = {"rtp", "127.0.0.1:554", kNames,
                               [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                   return std::make_unique<RtpClient>(world, index);
                               }};

}  // namespace s80::loadgen
