// SPDX-License-Identifier: GPL-2.0-or-later
#include "m5ops.h"

#include <array>

namespace s80::loadgen::m5 {

std::optional<std::string> read_file() {
    std::string content;
    for (;;) {
        // Written to before gem5 does: it needs a page behind the buffer.
        std::array<char, 4096> part{};
        const std::uint64_t bytes =
            call<0x50>(reinterpret_cast<std::uint64_t>(part.data()), part.size(), content.size());
        if (bytes == 0 || bytes > part.size()) {
            break;
        }
        content.append(part.data(), bytes);
    }
    if (content.empty()) {
        return std::nullopt;
    }
    return content;
}

}  // namespace s80::loadgen::m5
