// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace s80::uw {

const std::string& Options::need(const std::string& name) const {
    const auto found = values.find(name);
    if (found == values.end()) {
        throw WrongUsage("--" + name + " is needed");
    }
    return found->second;
}

std::string Options::get(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
}

std::optional<unsigned> Options::user_id(const std::string& name) const {
    const std::string text = get(name);
    if (text.empty()) {
        return std::nullopt;
    }
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == ~0U) {
        throw WrongUsage("--" + name + " needs a number, not '" + text + "'");
    }
    return number;
}

Options parse_options(std::span<char* const> arguments, const std::vector<std::string>& known) {
    Options options;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string word = arguments[i];
        if (!word.starts_with("--")) {
            options.words.push_back(word);
            continue;
        }
        const std::string name = word.substr(2);
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw WrongUsage("unknown option " + word);
        }
        if (++i == arguments.size()) {
            throw WrongUsage(word + " needs a value");
        }
        options.values[name] = arguments[i];
    }
    return options;
}

void become(std::optional<unsigned> user) {
    if (!user) {
        return;
    }
    if (setgroups(0, nullptr) != 0 || setgid(*user) != 0 || setuid(*user) != 0) {
        throw std::runtime_error("cannot become user " + std::to_string(*user) + ": " + std::strerror(errno));
    }
}

}  // namespace s80::uw
