// SPDX-License-Identifier: GPL-2.0-or-later
// FILE: a static file. PAGE: a page that a program makes of a record and a file.
#include "protocol.h"

#include <array>

#include "web/web_client.h"

namespace s80::loadgen {

namespace {

enum : TransactionType { STATIC, DYNAMIC };
constexpr std::array<std::string_view, 2> kNames = {"FILE", "PAGE"};

}  // namespace

const Protocol web_protocol = {"web", "127.0.0.1:443", kNames,
                               [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                   return std::make_unique<WebClient>(world, index);
                               },
                               "127.0.0.1:80"};

Task WebClient::run(TransactionType type) {
    return type == DYNAMIC ? get_page() : get_file();
}

}  // namespace s80::loadgen
