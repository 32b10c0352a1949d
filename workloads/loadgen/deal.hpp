// SPDX-License-Identifier: GPL-2.0-or-later
// What the clients draw, dealt out so that together they keep to their distributions. A region holds a few
// hundred transactions: by independent draws one has twice the long ones of another, and that tells two
// starts apart more than what is measured does. A client still cannot know what it gets; but whoever comes
// next gets what is due, as from a shuffled deck (TPC-C, clause 5.2.4.2, lets transactions be drawn from one,
// for the same reason; docs/background/precision.md).
#pragma once

#include <cstdint>
#include <vector>

#include "mix.hpp"
#include "random.hpp"
#include "transaction_type.hpp"

namespace s80::loadgen {

/// Uniform draws of which any number in a row fill [0, 1) evenly: multiples of an irrational number, from a
/// random start (Weyl's sequence; Kuipers and Niederreiter, Uniform Distribution of Sequences, 1974, chapter
/// 2).
class EvenDraws {
public:
    EvenDraws(Random& random, std::uint64_t step) : state_(random.bits()), step_(step) {}

    double next() { return unit(state_ += step_); }

private:
    std::uint64_t state_;
    std::uint64_t step_;  // the number's fraction, of 2^64
};

/// Of one job: all its clients draw from the same.
class Deal {
public:
    Deal(const Mix& mix, std::uint64_t seed);

    /// A client's first transaction.
    TransactionType first() { return mix_.first(first_.next()); }
    /// Its next one.
    TransactionType next(TransactionType now) { return mix_.next(now, next_[now].next()); }
    /// How long it thinks, uniform in [0, 1).
    double think() { return think_.next(); }
    /// How much it does, where a transaction leaves that open: uniform in [0, 1).
    double amount(TransactionType type) { return amount_[type].next(); }

private:
    Deal(const Mix& mix, Random random);

    Mix mix_;
    EvenDraws first_;
    EvenDraws think_;
    std::vector<EvenDraws> next_;    // of each type that a client comes from
    std::vector<EvenDraws> amount_;  // of each type
};

}  // namespace s80::loadgen
