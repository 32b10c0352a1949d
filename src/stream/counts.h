// SPDX-License-Identifier: GPL-2.0-or-later
// Classes by which the recording side counts instructions, transactions and time slices.
#pragma once
#include <cstdint>

namespace s80::model {

/// In the order of `dims.instruction`.
enum class InstructionClass : std::uint8_t {
    load,
    store,
    load_store,
    branch_conditional,
    branch_unconditional,
    other
};
inline constexpr unsigned kInstructionClasses = 6;

inline constexpr unsigned kTransactionTypes = 10;
inline constexpr unsigned kOutcomes = 2;

/// Time slices by their length in powers of two instructions. The first class has those of 0 or 1
/// instructions, the last one all from 2^23 on.
inline constexpr unsigned kSliceLengths = 24;

}  // namespace s80::model
