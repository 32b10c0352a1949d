// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/probe_client.h"

#include <utility>

namespace s80::loadgen {

namespace {

constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kSmallestBlock = 4096;

/// Of 0, 1, ... n-1.
constexpr std::uint64_t sum_below(std::uint64_t n) {
    return n * (n - 1) / 2;
}

}  // namespace

std::uint64_t ProbeClient::words() const {
    return world.job.working_set / 2 / kWordBytes;
}

Task ProbeClient::log_in() {
    session_.emplace(world.network, world.servers.of(probe_protocol));
    watch(*session_);
    return open(kSmallestBlock, kWordBytes);
}

void ProbeClient::take_up_job() {
    const Weights& percent = world.job.mix_percent;
    if (!percent.empty() && percent.front() > 0 && (words() == 0 || world.job.batch % words() != 0)) {
        throw Fatal("job: batch=" + std::to_string(world.job.batch) +
                    " words are not a whole number of passes over " + std::to_string(words()));
    }
}

Task ProbeClient::set_out() {
    return open(world.job.working_set, world.job.stride);
}

Task ProbeClient::open(std::uint64_t bytes, std::uint64_t stride) {
    passes_ = 0;
    const std::string size = std::to_string(bytes);
    co_await expect("OPEN " + size, stride, bytes / 2 / kWordBytes);
}

Task ProbeClient::copy() {
    const std::uint64_t passes = world.job.batch / words();
    // Pass k reads words that are k larger than at first.
    const std::uint64_t grown = sum_below(passes_ + passes) - sum_below(passes_);
    passes_ += passes;
    return expect("COPY", passes, passes * sum_below(words()) + words() * grown);
}

Task ProbeClient::walk(std::string request) {
    const std::uint64_t step = world.job.stride / kWordBytes;
    const std::uint64_t stops = world.job.working_set / world.job.stride;
    return expect(std::move(request), world.job.batch, world.job.batch * step * sum_below(stops));
}

Task ProbeClient::expect(std::string request, std::uint64_t times, std::uint64_t sum) {
    co_await session_->ask(request + " " + std::to_string(times));
    const auto& said = session_->numbers();
    if (said.size() != 1 || static_cast<std::uint64_t>(said.front()) != sum) {
        throw Failure(ErrorKind::missing, session_->reply() + " instead of " + std::to_string(sum));
    }
}

}  // namespace s80::loadgen
