// SPDX-License-Identifier: GPL-2.0-or-later
// Categories in which the recording side counts instructions, transactions and time slices.
#pragma once
#include <array>
#include <string_view>

#include "base/labels.h"

namespace s80::model {

S80_LABELLED_ENUM(InstructionClass, load, store, load_store, branch_conditional, branch_unconditional, other);
inline constexpr unsigned kInstructionClasses = kLabelCount<InstructionClass>;

/// Types of transactions of the IMAP workload, by their numbers in the load generator's markers.
S80_LABELLED_ENUM(TransactionType, CRTE, DELT, RENM, SRCH, SELT, COPY, MOVE, VIEW, SEND, MDEL);
inline constexpr unsigned kTransactionTypes = kLabelCount<TransactionType>;

S80_LABELLED_ENUM(TransactionOutcome, good, failed);
inline constexpr unsigned kOutcomes = kLabelCount<TransactionOutcome>;

/// Categories of time slices: label n counts slices of n to 2n - 1 instructions. The first one also counts
/// slices of 0 instructions, and the last one all from 2^23 on.
inline constexpr std::array<std::string_view, 24> kSliceLengthLabels{
    "1",     "2",      "4",      "8",      "16",      "32",      "64",      "128",
    "256",   "512",    "1024",   "2048",   "4096",    "8192",    "16384",   "32768",
    "65536", "131072", "262144", "524288", "1048576", "2097152", "4194304", "8388608"};
inline constexpr auto kSliceLengths = static_cast<unsigned>(kSliceLengthLabels.size());

}  // namespace s80::model
