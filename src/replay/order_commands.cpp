// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/order_commands.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>

#include "base/types.h"

namespace s80::replay {

Options::Options(const std::vector<std::string>& words, const std::vector<std::string>& allowed) {
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            throw model::Error("'" + word + "' is not KEY=VALUE");
        }
        const std::string key = word.substr(0, equals);
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
            throw model::Error("unknown key '" + key + "'");
        }
        if (!values_.emplace(key, word.substr(equals + 1)).second) {
            throw model::Error("the key '" + key + "' is given twice");
        }
    }
}

const std::string& Options::need(const std::string& key) const {
    const auto it = values_.find(key);
    if (it == values_.end()) {
        throw model::Error("the key '" + key + "' is missing");
    }
    return it->second;
}

std::string Options::text(const std::string& key, const std::string& otherwise) const {
    const auto it = values_.find(key);
    return it == values_.end() ? otherwise : it->second;
}

std::uint64_t Options::number(const std::string& key, std::uint64_t otherwise) const {
    const auto it = values_.find(key);
    if (it == values_.end()) {
        return otherwise;
    }
    std::uint64_t value = 0;
    const char* const end = it->second.data() + it->second.size();
    const auto [stop, error] = std::from_chars(it->second.data(), end, value);
    if (error != std::errc{} || stop != end) {
        throw model::Error(key + "=" + it->second + " is not a whole number");
    }
    return value;
}

namespace {

void run(const std::vector<Command>& commands, const std::vector<std::string>& words) {
    std::string names;
    for (const Command& command : commands) {
        if (!words.empty() && words[0] == command.name) {
            command.run(Options({words.begin() + 1, words.end()}, command.keys));
            return;
        }
        names += (names.empty() ? "" : ", ") + std::string(command.name);
    }
    throw model::Error("the first word must be one of " + names);
}

}  // namespace

int run_program(const char* program, const std::vector<Command>& commands, int argc, char** argv) {
    try {
        run(commands, {argv + 1, argv + argc});
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", program, e.what());
        return 1;
    }
}

}  // namespace s80::replay
