// SPDX-License-Identifier: GPL-2.0-or-later
// Lines that end with CR and LF, as in most protocols of the Internet.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "failure.h"

namespace s80::loadgen {

/// The line that begins at `at`, without its end. Moves `at` behind the line. Returns nothing while the line
/// is incomplete. Throws a fatal Failure for a line without CR.
inline std::optional<std::string_view> take_line(std::string_view bytes, std::size_t& at) {
    const std::size_t newline = bytes.find('\n', at);
    if (newline == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view line = bytes.substr(at, newline - at);
    if (!line.ends_with('\r')) {
        throw Failure(ErrorKind::protocol, "a line without CR: " + std::string(line.substr(0, 80)), true);
    }
    line.remove_suffix(1);
    at = newline + 1;
    return line;
}

}  // namespace s80::loadgen
