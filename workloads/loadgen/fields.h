// SPDX-License-Identifier: GPL-2.0-or-later
// Splits, parses and rejects values in the job's text.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace s80::loadgen {

std::string_view trim(std::string_view text);

/// The words of a text, separated by blanks.
std::vector<std::string_view> words(std::string_view text);

/// Throws Fatal with the key, the value, and the allowed values.
[[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view allowed);

/// A number of at least `least`; otherwise calls refuse().
template <typename Number>
Number number(std::string_view key, std::string_view value, Number least, std::string_view allowed) {
    Number result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() || !(result >= least)) {
        refuse(key, value, allowed);
    }
    return result;
}

/// The index of the value in these names; otherwise calls refuse().
std::size_t choice(std::string_view key, std::string_view value, const std::vector<std::string_view>& names,
                   std::string_view allowed);

/// All names, separated by `join`.
template <typename Names>
std::string joined(const Names& names, std::string_view join) {
    std::string all;
    for (const auto& name : names) {
        all.append(all.empty() ? "" : join).append(name);
    }
    return all;
}

}  // namespace s80::loadgen
