// SPDX-License-Identifier: GPL-2.0-or-later
// Enumerations whose values have labels in files. A label is the name of the enumerator, so that it is
// written only once.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

/// Declares an enumeration with the values 0, 1, 2, ... whose labels are the enumerators' names.
#define S80_LABELLED_ENUM(Name, ...)                    \
    enum class Name : std::uint8_t { __VA_ARGS__ };     \
    constexpr std::string_view enumerator_list(Name) {  \
        return #__VA_ARGS__; /* "first, second, ..." */ \
    }                                                   \
    static_assert(true)

namespace s80::model {

template <class Enum>
constexpr auto enumerator_names() {
    constexpr std::string_view kList = enumerator_list(Enum{});
    constexpr std::string_view kBetween = ", ";
    std::array<std::string_view, std::count(kList.begin(), kList.end(), ',') + 1> names;
    std::size_t begin = 0;
    for (std::string_view& name : names) {
        const std::size_t end = std::min(kList.find(kBetween, begin), kList.size());
        name = kList.substr(begin, end - begin);
        begin = end + kBetween.size();
    }
    return names;
}

/// The labels of an enumeration, indexed by value.
template <class Enum>
inline constexpr auto kLabels = enumerator_names<Enum>();

template <class Enum>
inline constexpr auto kLabelCount = static_cast<unsigned>(kLabels<Enum>.size());

template <class Enum>
constexpr std::string_view label(Enum value) {
    return kLabels<Enum>[static_cast<unsigned>(value)];
}

}  // namespace s80::model
