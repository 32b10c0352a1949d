// SPDX-License-Identifier: GPL-2.0-or-later
// How a key of machine files is declared. The part of the model that uses a key declares it, and
// memory/machine_keys.cpp lists all declarations. The Python code validates machine files by the same
// declarations (scripts/s80lab/config/machine_keys.json).
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace s80::model {

enum class KeyType : std::uint8_t {
    number,  ///< a whole number
    size,    ///< bytes; in a user's machine file also a text such as "8MiB"
    real,
    name,  ///< one of the names in Key::names; `otherwise` is the position of the default
};

struct Key {
    const char* name;  ///< name in a machine file: TABLE.KEY
    KeyType type = KeyType::number;
    double least = 0;
    double most = std::numeric_limits<std::uint32_t>::max();
    /// If it is above 0, the value may also be a text such as "1.5x", with at most this factor. `text` says
    /// of what it is a multiple.
    double most_multiple = 0;
    /// Default value; nothing: each file must have the key, unless `optional` is set.
    std::optional<double> otherwise = {};
    std::span<const char* const> names = {};
    bool power_of_two = false;
    /// Resolved machine files lack the key if it has its default value, or no value and no default.
    bool optional = false;
    const char* unit = "";
    const char* text = "";  ///< meaning of the key for users, in one line

    /// The default value, in the type in which the model stores the key's value.
    template <class T>
    constexpr T standard() const {
        return static_cast<T>(*otherwise);
    }
};

inline constexpr double kGiB = 1 << 30;

}  // namespace s80::model
