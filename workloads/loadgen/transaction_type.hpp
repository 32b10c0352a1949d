// SPDX-License-Identifier: GPL-2.0-or-later
// The ten transactions of the mail mix, in the order of the paper's Table 1. The index is part of
// the contract with the plugin (docs/interfaces.md, section 1).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace s80::loadgen {

enum class TransactionType : unsigned char {
    CRTE,
    DELT,
    RENM,
    SRCH,
    SELT,
    COPY,
    MOVE,
    VIEW,
    SEND,
    MDEL
};

inline constexpr std::size_t transaction_types = 10;

inline constexpr std::array<std::string_view, transaction_types> transaction_names = {
    "CRTE", "DELT", "RENM", "SRCH", "SELT", "COPY", "MOVE", "VIEW", "SEND", "MDEL"};

constexpr std::size_t index_of(TransactionType type) { return static_cast<std::size_t>(type); }
constexpr std::string_view name_of(TransactionType type) {
    return transaction_names[index_of(type)];
}

}  // namespace s80::loadgen
