// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the timing merger and the model on a thread of their own, behind the thread that records. Results must
// not depend on how the host schedules the two threads. Therefore the recording side always gets the results
// of the epoch that is two before the last one handed over, and waits for them if necessary.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "observe/snapshot.h"
#include "plugin/capture.h"
#include "plugin/epochs.h"
#include "plugin/watch.h"
#include "stream/epoch.h"
#include "timing/merger.h"

namespace s80::plugin {

class Pipeline final : public EpochSink {
public:
    Pipeline(model::TimingMerger& merger, model::Hierarchy& hierarchy, model::SnapshotWriter& snapshots,
             Capture& capture, Watch& watch);
    ~Pipeline() override;
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    std::unique_ptr<model::Epoch> take() override;
    void submit(std::unique_ptr<model::Epoch> epoch) override;
    const Known& known() override;
    /// Waits until all epochs that were handed over have been played.
    void drain();

private:
    static constexpr std::uint64_t kLag = 2;
    void run();

    model::TimingMerger& merger_;
    model::Hierarchy& hierarchy_;
    model::SnapshotWriter& snapshots_;
    Capture& capture_;
    Watch& watch_;
    std::mutex mutex_;
    std::condition_variable submitted_;
    std::condition_variable played_;
    std::deque<std::unique_ptr<model::Epoch>> queue_;
    std::vector<std::unique_ptr<model::Epoch>> free_;
    std::uint64_t handed_ = 0;
    std::uint64_t done_ = 0;
    std::deque<Known> known_;  ///< results of the last epochs that were played, the newest last
    Known current_;            ///< storage of the result that known() returned last
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace s80::plugin
