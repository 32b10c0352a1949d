// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/keys.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <type_traits>

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

void Keys::refuse(const Key& key, const std::string& value, const std::string& remedy) const {
    throw Error(where_ + ": key `" + key.name + "`: `" + value + "` is not allowed; write " + remedy);
}

namespace {

std::string value_text(const std::variant<std::monostate, std::int64_t, double, std::string>& value) {
    std::ostringstream text;
    if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
        text << *integer;
    } else if (const auto* const real = std::get_if<double>(&value)) {
        text << *real;
    } else if (const auto* const word = std::get_if<std::string>(&value)) {
        text << *word;
    } else {
        text << "a value of another type";
    }
    return text.str();
}

/// A limit for a message. A whole number has no fraction.
std::string limit(double value) {
    std::ostringstream text;
    text << std::setprecision(15) << value;
    return text.str();
}

}  // namespace

/// The value of the key, checked against the key's range. `kind`: what a message asks for if the value has
/// another type.
template <class T>
T Keys::ranged(const Key& key, const char* kind) const {
    const auto found = values_.find(key.name);
    if (found == values_.end()) {
        if (!key.otherwise) {
            throw Error(where_ + ": the key `" + key.name + "` is missing");
        }
        return key.standard<T>();
    }
    const auto* const exact = std::get_if<T>(&found->second);
    const auto* const whole = std::get_if<std::int64_t>(&found->second);
    if (exact == nullptr && (std::is_same_v<T, std::int64_t> || whole == nullptr)) {
        refuse(key, value_text(found->second), kind);
    }
    const T value = exact != nullptr ? *exact : static_cast<T>(*whole);
    const auto number = static_cast<double>(value);
    check_limits(key, number, value_text(found->second));
    if (key.power_of_two && !std::has_single_bit(static_cast<std::uint64_t>(value))) {
        throw Error(where_ + ": " + key.name + " = " + value_text(found->second) + " must be a power of two");
    }
    return value;
}

void Keys::check_limits(const Key& key, double number, const std::string& value) const {
    if (!std::isfinite(number)) {
        refuse(key, value, "a finite number");
    }
    if (number < key.least) {
        refuse(key, value, "a number of at least " + limit(key.least));
    }
    if (number > key.most) {
        refuse(key, value, "a number of at most " + limit(key.most));
    }
}

unsigned Keys::number(const Key& key) const {
    return static_cast<unsigned>(ranged<std::int64_t>(key, "a whole number"));
}

std::uint64_t Keys::wide(const Key& key) const {
    return static_cast<std::uint64_t>(ranged<std::int64_t>(key, "a whole number"));
}

double Keys::real(const Key& key) const {
    return ranged<double>(key, "a number");
}

std::uint64_t Keys::multiple(const Key& key, std::uint64_t of) const {
    const auto found = values_.find(key.name);
    const auto* const text = found == values_.end() ? nullptr : std::get_if<std::string>(&found->second);
    if (text == nullptr) {
        return wide(key);
    }
    double factor = 0;
    const char* const end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, factor, std::chars_format::fixed);
    if (error != std::errc{} || stop + 1 != end || *stop != 'x' || !(factor > 0) ||
        factor > key.most_multiple) {
        refuse(key, *text,
               "a whole number, or a multiple of at most " + limit(key.most_multiple) + " such as 1.5x");
    }
    const double number = std::round(factor * static_cast<double>(of));
    check_limits(key, number, *text);
    return static_cast<std::uint64_t>(number);
}

unsigned Keys::choice(const Key& key) const {
    const auto found = values_.find(key.name);
    if (found == values_.end() && key.otherwise) {
        return key.standard<unsigned>();
    }
    return position(key, text(key.name), where_);
}

unsigned position(const Key& key, const std::string& word, const std::string& where) {
    std::string names;
    for (unsigned number = 0; number < key.names.size(); ++number) {
        if (word == key.names[number]) {
            return number;
        }
        names += std::string(number == 0 ? "" : ", ") + key.names[number];
    }
    throw Error(where + ": key `" + key.name + "`: `" + word + "` is not one of its values; allowed are " +
                names);
}

std::string Keys::text(const std::string& key, const std::string& otherwise) const {
    return values_.contains(key) ? text(key) : otherwise;
}

std::string Keys::text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
        throw Error(where_ + ": the key `" + key + "` is missing");
    }
    if (!std::holds_alternative<std::string>(found->second)) {
        throw Error(where_ + ": key `" + key + "`: `" + value_text(found->second) +
                    "` is not allowed; write a text in quotes");
    }
    return std::get<std::string>(found->second);
}

}  // namespace s80::model
