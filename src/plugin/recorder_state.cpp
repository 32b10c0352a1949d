// SPDX-License-Identifier: GPL-2.0-or-later
// The recorder's part of a checkpoint: writes the state of the plugin as 64-bit words, and restores it.
#include <algorithm>

#include "plugin/recorder.h"

namespace s80::plugin {

model::Extra Recorder::extra() const {
    const Epochs::State state = epochs_->state();
    model::Extra words{state.sleeping.word(),
                       page_.physical(),
                       std::uint64_t{state.time.clock.runs},
                       static_cast<std::uint64_t>(state.time.clock.origin),
                       std::uint64_t{state.time.gap_pending},
                       std::uint64_t{state.totals.began},
                       vcpus_.areas().size(),
                       contexts_.process_classes().size(),
                       state.totals.finished.size()};
    for (const auto& [area, processor] : vcpus_.areas()) {
        words.insert(words.end(), {area, processor});
    }
    for (const auto& [cr3, process_class] : contexts_.process_classes()) {
        words.insert(words.end(), {cr3, process_class});
    }
    words.insert(words.end(), state.totals.finished.begin(), state.totals.finished.end());
    return words;
}

Epochs::State Recorder::restore(const model::Extra& extra) {
    Epochs::State state;
    auto at = extra.begin();
    state.sleeping = model::CoreSet::of_word(static_cast<model::CoreSet::Word>(*at++));
    page_.restore(ram_, *at++);
    state.time.clock.runs = *at++ != 0;
    state.time.clock.origin = static_cast<std::int64_t>(*at++);
    state.time.gap_pending = *at++ != 0;
    state.totals.began = *at++ != 0;
    const std::uint64_t areas = *at++;
    const std::uint64_t process_classes = *at++;
    const std::uint64_t finished = *at++;
    for (std::uint64_t i = 0; i < areas; ++i) {
        const std::uint64_t area = *at++;
        vcpus_.restore(area, static_cast<unsigned>(*at++));
    }
    for (std::uint64_t i = 0; i < process_classes; ++i) {
        const std::uint64_t cr3 = *at++;
        contexts_.restore_process_class(cr3, static_cast<std::uint8_t>(*at++));
    }
    for (std::uint64_t i = 0; i < finished; ++i) {
        state.totals.finished.insert(*at++);
    }
    restore_totals(state.totals);
    return state;
}

/// Restores the totals that are in the model's statistics, and therefore not in the words above.
void Recorder::restore_totals(EpochWriter::Totals& totals) const {
    const model::Statistics& stats = playing_->hierarchy.stats();
    totals.instructions = stats.sum(model::Stat::instructions);
    const auto transactions = stats.values(model::Stat::transactions);
    for (unsigned t = 0; t < model::kTransactionTypes; ++t) {
        std::copy_n(transactions.begin() + t * model::kOutcomes, model::kOutcomes,
                    totals.transactions[t].begin());
    }
    const auto copy = [&stats](model::Stat stat, auto& to) {
        std::copy_n(stats.values(stat).begin(), to.size(), to.begin());
    };
    copy(model::Stat::slices, totals.slices.slices);
    copy(model::Stat::slice_instructions, totals.slices.instructions);
}

}  // namespace s80::plugin
