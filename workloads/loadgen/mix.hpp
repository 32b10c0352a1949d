// SPDX-License-Identifier: GPL-2.0-or-later
// Which transaction a client does next: a Markov chain (the paper's Table 2) or an independent draw
// (its Table 1).
#pragma once

#include <cstddef>
#include <vector>

#include "transaction_type.hpp"

namespace s80::loadgen {

/// One for each type of the protocol.
using Weights = std::vector<double>;

/// A distribution over the transaction types, from weights that need not sum to one.
class Distribution {
public:
    Distribution() = default;
    explicit Distribution(const Weights& weights);

    /// From a uniform draw in [0, 1).
    TransactionType draw(double uniform) const;

private:
    Weights cumulative_;
};

/// The shares of the states in a long run of the chain whose rows are these weights.
Weights stationary(const std::vector<Weights>& transitions);

class Mix {
public:
    /// Independent draws.
    explicit Mix(const Weights& percent);
    /// A chain; its first state is drawn from its stationary distribution, so that a load is from its first
    /// transaction on what it will be in the long run.
    explicit Mix(const std::vector<Weights>& transitions);

    TransactionType first(double uniform) const { return start_.draw(uniform); }
    TransactionType next(TransactionType now, double uniform) const { return rows_[now].draw(uniform); }
    std::size_t types() const { return rows_.size(); }

private:
    Distribution start_;
    std::vector<Distribution> rows_;
};

}  // namespace s80::loadgen
