// SPDX-License-Identifier: GPL-2.0-or-later
// The choice of a client's next transaction: a Markov chain (the paper's Table 2) or independent draws (its
// Table 1).
#pragma once

#include <cstddef>
#include <vector>

#include "transaction_type.h"

namespace s80::loadgen {

/// One weight for each transaction type of the protocol.
using Weights = std::vector<double>;

/// A distribution over the transaction types. Its weights need not add up to one.
class Distribution {
public:
    Distribution() = default;
    explicit Distribution(const Weights& weights);

    /// The type for a uniform draw in [0, 1).
    TransactionType draw(double uniform) const;

private:
    Weights cumulative_;
};

/// The stationary distribution of the chain whose rows are these weights.
Weights stationary(const std::vector<Weights>& transitions);

class Mix {
public:
    /// Independent draws.
    explicit Mix(const Weights& percent);
    /// A chain. Its first state is drawn from its stationary distribution, so that the load has its long-run
    /// shares from the first transaction on.
    explicit Mix(const std::vector<Weights>& transitions);

    TransactionType first(double uniform) const { return start_.draw(uniform); }
    TransactionType next(TransactionType now, double uniform) const { return rows_[now].draw(uniform); }
    std::size_t types() const { return rows_.size(); }

private:
    Distribution start_;
    std::vector<Distribution> rows_;
};

}  // namespace s80::loadgen
