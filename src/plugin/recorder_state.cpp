// SPDX-License-Identifier: GPL-2.0-or-later
// State that the recorder needs when its guest is restored.
#include <algorithm>

#include "plugin/recorder.h"

namespace s80::plugin {

model::Extra Recorder::extra() const {
    const Windows::State state = windows_->state();
    model::Extra words{state.sleeping.word(),
                       page_.physical(),
                       std::uint64_t{state.time.clock.runs},
                       static_cast<std::uint64_t>(state.time.clock.origin),
                       std::uint64_t{state.time.gap_pending},
                       std::uint64_t{state.totals.began},
                       per_cpu_base_.size(),
                       parties_.size(),
                       state.totals.finished.size()};
    for (const auto& [base, processor] : per_cpu_base_) {
        words.insert(words.end(), {base, processor});
    }
    for (const auto& [cr3, party] : parties_) {
        words.insert(words.end(), {cr3, party});
    }
    words.insert(words.end(), state.totals.finished.begin(), state.totals.finished.end());
    return words;
}

Windows::State Recorder::restore(const model::Extra& extra) {
    Windows::State state;
    auto at = extra.begin();
    state.sleeping = model::CoreSet::of_word(static_cast<model::CoreSet::Word>(*at++));
    page_.restore(ram_, *at++);
    state.time.clock.runs = *at++ != 0;
    state.time.clock.origin = static_cast<std::int64_t>(*at++);
    state.time.gap_pending = *at++ != 0;
    state.totals.began = *at++ != 0;
    const std::uint64_t bases = *at++;
    const std::uint64_t parties = *at++;
    const std::uint64_t finished = *at++;
    for (std::uint64_t i = 0; i < bases; ++i) {
        const std::uint64_t base = *at++;
        per_cpu_base_[base] = static_cast<unsigned>(*at++);
    }
    for (std::uint64_t i = 0; i < parties; ++i) {
        const std::uint64_t cr3 = *at++;
        parties_[cr3] = static_cast<std::uint8_t>(*at++);
    }
    for (std::uint64_t i = 0; i < finished; ++i) {
        state.totals.finished.insert(*at++);
    }
    for (const auto& [base, processor] : per_cpu_base_) {
        Lane& lane = *lanes_[processor];
        lane.attention = kAddressSpace | kTask;
        per_cpu_[processor] = base;
        lane.filter.key.begin();
    }
    const model::Statistics& stats = hierarchy_->stats();
    state.totals.instructions = stats.sum(model::Stat::instructions);
    const auto transactions = stats.values(model::Stat::transactions);
    for (unsigned t = 0; t < model::kTransactionTypes; ++t) {
        std::copy_n(transactions.begin() + t * model::kOutcomes, model::kOutcomes,
                    state.totals.transactions[t].begin());
    }
    const auto copy = [&stats](model::Stat stat, auto& to) {
        std::copy_n(stats.values(stat).begin(), to.size(), to.begin());
    };
    copy(model::Stat::slices, state.totals.slices.slices);
    copy(model::Stat::slice_instructions, state.totals.slices.instructions);
    return state;
}

}  // namespace s80::plugin
