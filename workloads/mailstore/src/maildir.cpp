// SPDX-License-Identifier: GPL-2.0-or-later
#include "maildir.h"

#include <algorithm>
#include <array>

namespace s80::mailstore {

namespace {

constexpr auto kMboxLines =
    std::to_array<std::string_view>({"X-IMAPbase:", "X-UID:", "Status:", "X-Keywords:"});

bool of_mbox(std::string_view line) {
    return std::any_of(kMboxLines.begin(), kMboxLines.end(),
                       [&](std::string_view name) { return line.starts_with(name); });
}

/// Digits with zeros before them, so that names sort as the messages came.
std::string padded(std::uint64_t value, std::size_t width) {
    const std::string digits = std::to_string(value);
    return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

}  // namespace

MaildirMessage maildir_message(std::string_view mbox_message, const Position& position) {
    const std::size_t body = mbox_message.find("\n\n") + 1;
    std::string_view header = mbox_message.substr(0, body);
    header.remove_prefix(header.find('\n') + 1);
    const bool seen = header.find("\nStatus: RO\n") != std::string_view::npos;
    MaildirMessage made;
    made.text.reserve(mbox_message.size());
    while (!header.empty()) {
        const std::string_view line = header.substr(0, header.find('\n') + 1);
        if (!of_mbox(line)) {
            made.text.append(line);
        }
        header.remove_prefix(line.size());
    }
    made.text.append(mbox_message.substr(body, mbox_message.size() - body - 1));
    // S and W: the size as it lies there and as it is sent, with two bytes at the end of a line (Maildir++).
    const auto lines = static_cast<std::size_t>(std::count(made.text.begin(), made.text.end(), '\n'));
    made.name = std::to_string(position.time) + ".M" + padded(position.uid, 6) +
                ".mail.s80.example,S=" + std::to_string(made.text.size()) +
                ",W=" + std::to_string(made.text.size() + lines) + (seen ? ":2,S" : ":2,");
    return made;
}

}  // namespace s80::mailstore
