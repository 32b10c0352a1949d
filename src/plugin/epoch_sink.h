// SPDX-License-Identifier: GPL-2.0-or-later
// Where the recording side gets empty epochs from, and hands recorded epochs to. `Pipeline` implements it;
// tests have implementations of their own.
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
    /// Returns an empty epoch to record into. May wait until the timing merger has played an older one.
    virtual std::unique_ptr<model::Epoch> take() = 0;
    /// Takes a recorded epoch, which the timing merger will play.
    virtual void submit(std::unique_ptr<model::Epoch> epoch) = 0;
    /// What the timing merger has computed up to the end of the epoch that is two before the last one handed
    /// over. The fixed distance makes results independent of the host's speed.
    struct Known {
        std::uint64_t clock_ns = 0;                    ///< simulated time, ns
        std::vector<model::TimingMerger::Pace> paces;  ///< recent speed of each processor, by its number
    };
    virtual const Known& known() = 0;
};

}  // namespace s80::plugin
