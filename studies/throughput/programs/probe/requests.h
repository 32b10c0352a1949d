// SPDX-License-Identifier: GPL-2.0-or-later
// The requests of one connection (docs/reference/interfaces/own-servers.md): one line each, with one line
// as reply.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blocks.h"
#include "token.h"

namespace s80::probe {

class Requests {
public:
    /// The reply, without the end of the line.
    std::string answer(std::string_view line);

private:
    std::string open(std::size_t bytes, std::size_t stride);

    std::optional<CopyBlock> block_;
    std::optional<Pair> pair_;
};

}  // namespace s80::probe
