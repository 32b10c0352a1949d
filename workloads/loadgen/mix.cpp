// SPDX-License-Identifier: GPL-2.0-or-later
#include "mix.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace s80::loadgen {

Distribution::Distribution(const Weights& weights) : cumulative_(weights.size()) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    double running = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        running += weights[i];
        cumulative_[i] = running / sum;
    }
    // Rounding must not leave a gap below 1, and a type of weight 0 at the end must stay undrawn.
    std::size_t last = weights.size();
    while (last > 1 && weights[last - 1] == 0) {
        --last;
    }
    std::fill(cumulative_.begin() + static_cast<std::ptrdiff_t>(last) - 1, cumulative_.end(), 1.0);
}

TransactionType Distribution::draw(double uniform) const {
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), uniform);
    return static_cast<TransactionType>(found - cumulative_.begin());
}

Weights stationary(const std::vector<Weights>& transitions) {
    const std::size_t types = transitions.size();
    Weights share(types, 1.0 / static_cast<double>(types));
    for (int step = 0; step < 1000; ++step) {
        // Half of each step stays where it is: a chain that goes in circles comes to rest, too.
        Weights next = share;
        for (std::size_t from = 0; from < types; ++from) {
            const double sum = std::accumulate(transitions[from].begin(), transitions[from].end(), 0.0);
            for (std::size_t to = 0; to < types; ++to) {
                next[to] += share[from] * transitions[from][to] / sum;
            }
        }
        for (std::size_t i = 0; i < types; ++i) {
            share[i] = next[i] / 2;
        }
    }
    return share;
}

Mix::Mix(const Weights& percent) : start_(percent), rows_(percent.size(), start_) {}

Mix::Mix(const std::vector<Weights>& transitions)
    : start_(stationary(transitions)), rows_(transitions.begin(), transitions.end()) {}

}  // namespace s80::loadgen
