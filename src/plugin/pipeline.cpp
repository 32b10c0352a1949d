// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/pipeline.h"

#include "plugin/fatal.h"

namespace s80::plugin {

namespace {
constexpr std::size_t kEpochs = 4;
}  // namespace

Pipeline::Pipeline(model::TimingMerger& merger, model::Hierarchy& hierarchy, model::SnapshotWriter& snapshots,
                   Capture& capture, Watch& watch)
    : merger_(merger),
      hierarchy_(hierarchy),
      snapshots_(snapshots),
      capture_(capture),
      watch_(watch),
      known_(kLag + 1, {merger.clock_ns(), merger.paces()}) {
    for (std::size_t i = 0; i < kEpochs; ++i) {
        free_.push_back(std::make_unique<model::Epoch>(hierarchy.machine().processors));
    }
    thread_ = std::thread([this] { guarded([this] { run(); }); });
}

Pipeline::~Pipeline() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    submitted_.notify_one();
    thread_.join();
}

std::unique_ptr<model::Epoch> Pipeline::take() {
    std::unique_lock lock(mutex_);
    played_.wait(lock, [this] { return !free_.empty(); });
    auto epoch = std::move(free_.back());
    free_.pop_back();
    return epoch;
}

void Pipeline::submit(std::unique_ptr<model::Epoch> epoch) {
    if (epoch->mark != model::Mark::none) {
        epoch->watched = watch_.read();
    }
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(epoch));
        ++handed_;
    }
    submitted_.notify_one();
}

const EpochSink::Known& Pipeline::known() {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = handed_ > kLag ? handed_ - kLag : 0;
    played_.wait(lock, [&] { return done_ >= wanted; });
    current_ = known_[known_.size() - 1 - (done_ - wanted)];
    return current_;
}

void Pipeline::drain() {
    std::unique_lock lock(mutex_);
    played_.wait(lock, [this] { return done_ == handed_; });
}

void Pipeline::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        submitted_.wait(lock, [this] { return stop_ || !queue_.empty(); });
        if (queue_.empty()) {
            return;
        }
        auto epoch = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        merger_.play(*epoch);
        snapshots_.write(*epoch, merger_, hierarchy_.stats());
        capture_.write(*epoch);
        lock.lock();
        free_.push_back(std::move(epoch));
        known_.push_back({merger_.clock_ns(), merger_.paces()});
        if (known_.size() > kLag + 1) {
            known_.pop_front();
        }
        ++done_;
        played_.notify_all();
    }
}

}  // namespace s80::plugin
