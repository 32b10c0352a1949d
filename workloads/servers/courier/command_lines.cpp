// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_lines.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace s80::courier {

namespace {

constexpr std::string_view kInbox = "INBOX";

/// A command and which of its words are mailbox names; the tag is word 0.
struct Command {
    const char* name;
    std::size_t first, last;
};

constexpr std::array<Command, 11> kEntries = {{{"SELECT", 2, 2},
                                               {"EXAMINE", 2, 2},
                                               {"CREATE", 2, 2},
                                               {"DELETE", 2, 2},
                                               {"RENAME", 2, 3},
                                               {"SUBSCRIBE", 2, 2},
                                               {"UNSUBSCRIBE", 2, 2},
                                               {"STATUS", 2, 2},
                                               {"APPEND", 2, 2},
                                               {"COPY", 3, 3},
                                               {"MOVE", 3, 3}}};

bool same(std::string_view one, std::string_view other) {
    return one.size() == other.size() && strncasecmp(one.data(), other.data(), one.size()) == 0;
}

/// The words of a line, quoted ones with their quotes.
std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> found;
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (quoted && line[at] == '\\') {
            ++at;
        } else if (line[at] == '"') {
            quoted = !quoted;
        } else if (line[at] == ' ' && !quoted) {
            found.push_back(line.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    found.push_back(line.substr(begin));
    return found;
}

bool is_below(std::string_view name) {
    return same(name.substr(0, kInbox.size()), kInbox) &&
           (name.size() == kInbox.size() || name[kInbox.size()] == '.');
}

/// The size that a line's final "{SIZE}" or "{SIZE+}" announces; 0 without one.
std::size_t literal_size(std::string_view line) {
    line = line.substr(0, line.find_last_not_of("\r\n") + 1);
    const std::size_t open = line.rfind('{');
    std::size_t size = 0;
    if (line.ends_with('}') && open != std::string_view::npos) {
        std::from_chars(line.data() + open + 1, line.data() + line.size(), size);
    }
    return size;
}

}  // namespace

std::string below_inbox(std::string_view line) {
    const std::string_view text = line.substr(0, line.find_last_not_of("\r\n") + 1);
    const std::vector<std::string_view> all = words(text);
    const std::size_t shift = all.size() > 1 && same(all[1], "UID") ? 1 : 0;
    std::string changed(line);
    if (all.size() < 3 + shift) {
        return changed;
    }
    for (const Command& command : kEntries) {
        if (!same(all[1 + shift], command.name)) {
            continue;
        }
        // From the last to the first, so that places before stay what they are.
        for (std::size_t word = command.last; word >= command.first; --word) {
            if (word + shift >= all.size()) {
                continue;
            }
            std::string_view name = all[word + shift];
            if (name.empty() || name.front() == '{') {
                continue;
            }
            if (name.front() == '"') {
                name = name.substr(1, name.size() - std::min<std::size_t>(name.size(), 2));
            }
            if (is_below(name)) {
                continue;
            }
            changed.insert(static_cast<std::size_t>(name.data() - line.data()), "INBOX.");
        }
    }
    return changed;
}

std::string CommandLines::take(std::string_view bytes) {
    std::string onward;
    while (!bytes.empty()) {
        if (literal_ > 0) {
            const std::size_t part = std::min(literal_, bytes.size());
            onward.append(bytes.substr(0, part));
            bytes.remove_prefix(part);
            literal_ -= part;
            continue;
        }
        const std::size_t end = bytes.find('\n');
        line_.append(bytes.substr(0, end == std::string_view::npos ? end : end + 1));
        if (end == std::string_view::npos) {
            break;
        }
        bytes.remove_prefix(end + 1);
        literal_ = literal_size(line_);
        onward += below_inbox(line_);
        line_.clear();
    }
    return onward;
}

}  // namespace s80::courier
