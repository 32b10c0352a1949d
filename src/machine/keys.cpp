// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/keys.h"

#include <limits>
#include <utility>

#include "base/toml.h"
#include "base/types.h"

namespace s80::model {

namespace {

/// Calls `item(key, node)` with each value below the table.
template <class Fn>
void each_value(const toml::table& table, const std::string& prefix, Fn&& item) {
    for (const auto& [name, node] : table) {
        const std::string key = prefix + std::string(name.str());
        if (const toml::table* const inner = node.as_table()) {
            each_value(*inner, key + ".", item);
        } else {
            item(key, node);
        }
    }
}

template <class Values>
void fill(Values& values, const toml::table& table) {
    each_value(table, "", [&](const std::string& key, const toml::node& node) {
        if (const auto* const integer = node.as_integer()) {
            values.emplace(key, integer->get());
        } else if (const auto* const real = node.as_floating_point()) {
            values.emplace(key, real->get());
        } else if (const auto* const text = node.as_string()) {
            values.emplace(key, text->get());
        } else {
            values.emplace(key, std::monostate());
        }
    });
}

}  // namespace

Keys Keys::load(const std::string& path) {
    Keys keys(path);
    fill(keys.values_, parse_toml(path));
    return keys;
}

Keys Keys::parse(const std::string& text, const std::string& where) {
    Keys keys(where);
    fill(keys.values_, parse_toml_text(text, where));
    return keys;
}

bool Keys::has_table(const std::string& table) const {
    const auto first = values_.lower_bound(table + ".");
    return first != values_.end() && first->first.starts_with(table + ".");
}

bool Keys::is_text(const std::string& key) const {
    const auto found = values_.find(key);
    return found != values_.end() && std::holds_alternative<std::string>(found->second);
}

template <class T>
T Keys::need(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end() || !std::holds_alternative<T>(found->second)) {
        throw Error(where_ + ": the key " + key + " is missing or of the wrong type");
    }
    return std::get<T>(found->second);
}

std::string Keys::text(const std::string& key) const {
    return need<std::string>(key);
}

std::string Keys::text(const std::string& key, const std::string& otherwise) const {
    return values_.contains(key) ? text(key) : otherwise;
}

double Keys::real(const std::string& key) const {
    const auto found = values_.find(key);
    const bool whole = found != values_.end() && std::holds_alternative<std::int64_t>(found->second);
    return whole ? static_cast<double>(need<std::int64_t>(key)) : need<double>(key);
}

unsigned Keys::number(const std::string& key) const {
    const auto value = need<std::int64_t>(key);
    if (!std::in_range<unsigned>(value)) {
        throw Error(where_ + ": " + key + " is " + std::to_string(value) + ", allowed are 0 to " +
                    std::to_string(std::numeric_limits<unsigned>::max()));
    }
    return static_cast<unsigned>(value);
}

std::uint64_t Keys::positive(const std::string& key) const {
    const auto value = need<std::int64_t>(key);
    if (value <= 0) {
        throw Error(where_ + ": " + key + " is " + std::to_string(value) + ", it must be positive");
    }
    return static_cast<std::uint64_t>(value);
}

}  // namespace s80::model
