// SPDX-License-Identifier: GPL-2.0-or-later
// Source and destination of epochs.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "stream/epoch.h"
#include "timing/merger.h"

namespace s80::plugin {

class EpochSink {
public:
    virtual ~EpochSink() = default;
    /// An empty epoch to record into.
    virtual std::unique_ptr<model::Epoch> take() = 0;
    /// Hands over an epoch to be played.
    virtual void submit(std::unique_ptr<model::Epoch> epoch) = 0;
    /// The timing merger's results at the end of the epoch two before the last one that was handed over.
    struct Known {
        std::uint64_t clock_ns = 0;                    ///< simulated time
        std::vector<model::TimingMerger::Pace> paces;  ///< by processor
    };
    virtual const Known& known() = 0;
};

}  // namespace s80::plugin
