// SPDX-License-Identifier: GPL-2.0-or-later
// The declaration of a key of machine files. The part of the model that uses the key declares it, and
// memory/machine_keys.cpp lists the declarations. Python validates machine files by the same declarations
// (scripts/s80lab/config/machine_keys.json).
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace s80::model {

enum class KeyType : std::uint8_t {
    number,  ///< a whole number
    size,    ///< bytes; in a machine file of the user also a text such as "8MiB"
    real,
    name,  ///< one of the names; the default is the number of the name
};

struct Key {
    const char* name;  ///< TABLE.KEY
    KeyType type = KeyType::number;
    double least = 0;
    double most = std::numeric_limits<std::uint32_t>::max();
    /// If above 0, a text such as "1.5x" is a value too, at most this multiple. The text of the key says of
    /// what it is a multiple.
    double most_multiple = 0;
    std::optional<double> otherwise = {};  ///< default; none: each file must have the key, unless optional
    std::span<const char* const> names = {};
    bool power_of_two = false;
    /// A resolved file lacks the key if the value is the default, or if there is neither value nor default.
    bool optional = false;
    const char* unit = "";
    const char* text = "";  ///< meaning, for users: one line

    /// The default, converted to the type of the member that holds the key's value.
    template <class T>
    constexpr T standard() const {
        return static_cast<T>(*otherwise);
    }
};

inline constexpr double kGiB = 1 << 30;

}  // namespace s80::model
