// SPDX-License-Identifier: GPL-2.0-or-later
#include "fields.h"

#include <algorithm>

#include "failure.h"

namespace s80::loadgen {

namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (text = trim(text); !text.empty(); text = trim(text)) {
        const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
        found.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return found;
}

void refuse(std::string_view key, std::string_view value, std::string_view allowed) {
    throw Fatal("job: " + std::string(key) + "=" + std::string(value) + " is not allowed: it must be " +
                std::string(allowed));
}

std::size_t choice(std::string_view key, std::string_view value, const std::vector<std::string_view>& names,
                   std::string_view allowed) {
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) {
        refuse(key, value, allowed);
    }
    return static_cast<std::size_t>(found - names.begin());
}

}  // namespace s80::loadgen
