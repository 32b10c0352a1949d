// SPDX-License-Identifier: GPL-2.0-or-later
// Stratified draw of the clients' decisions (`Deal`), which reduces variance. A region holds a few hundred
// transactions. With independent draws, one region may have twice as many long transactions as another, and
// this sampling noise would dominate the difference between replications. Drawn from a shuffled deck, the
// clients together keep to their distributions, although no single client can predict its next draw (TPC-C,
// clause 5.2.4.2, allows a deck for the same reason; docs/background/precision.md).
#pragma once

#include <cstdint>
#include <vector>

#include "mix.h"
#include "random.h"
#include "transaction_type.h"

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

/// The draws of one job. All clients of the job share them.
class Deal {
public:
    Deal(const Mix& mix, std::uint64_t seed);

    /// A client's first transaction.
    TransactionType first() { return mix_.first(first_.next()); }
    /// The client's next transaction.
    TransactionType next(TransactionType now) { return mix_.next(now, next_[now].next()); }
    /// The think time as a uniform number in [0, 1).
    double think() { return think_.next(); }
    /// The amount of work, if the transaction leaves it open, as a uniform number in [0, 1).
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
