// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/mailboxes.h"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace s80::loadgen {

namespace {

constexpr std::string_view kMadePrefix = "made-";
constexpr std::string_view kKeptPrefix = "kept-";  // a mailbox of the store that was renamed

}  // namespace

bool Mailbox::inbox() const {
    return strcasecmp(name.c_str(), "INBOX") == 0;
}

std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '\r' || c == '\n') {
            return "{" + std::to_string(name.size()) + "+}\r\n" + name;
        }
        if (c == '"' || c == '\\') {
            text += '\\';
        }
        text += c;
    }
    return text + '"';
}

void Mailboxes::assign(const std::vector<std::string>& names) {
    boxes_.clear();
    for (const std::string& name : names) {
        boxes_.push_back({name, 0, name.starts_with(kMadePrefix)});
    }
    selected_ = 0;
}

void Mailboxes::remove(std::size_t index) {
    boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(index));
    if (selected_ > index) {
        --selected_;
    }
}

std::string Mailboxes::fresh_name(Random& random, bool created) const {
    for (;;) {
        char number[16];
        std::snprintf(number, sizeof number, "%08x", static_cast<unsigned>(random.bits() >> 32));
        std::string name = std::string(created ? kMadePrefix : kKeptPrefix) + number;
        if (std::none_of(boxes_.begin(), boxes_.end(),
                         [&](const Mailbox& box) { return box.name == name; })) {
            return name;
        }
    }
}

std::vector<std::size_t> Mailboxes::movable() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        if (i != selected_ && !boxes_[i].inbox()) {
            found.push_back(i);
        }
    }
    return found;
}

std::vector<std::size_t> Mailboxes::targets(unsigned limit) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        if (i != selected_ && boxes_[i].messages < limit) {
            found.push_back(i);
        }
    }
    return found;
}

}  // namespace s80::loadgen
