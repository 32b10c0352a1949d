// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtp/rtp_client.h"

#include <string>

namespace s80::loadgen {

Task RtpClient::log_in() {
    connect();
    co_await session_->options();
    settle(false);
}

void RtpClient::take_up_job() {
    const Job& job = world.job;
    if (!media::possible_rate(job.rate_kbps)) {
        throw Fatal("job: rate_kbps=" + std::to_string(job.rate_kbps) + " cannot be cut into packets of " +
                    std::to_string(media::kPacketMs) + " ms");
    }
    if (job.play_ms % media::kPacketMs != 0) {
        throw Fatal("job: play_ms=" + std::to_string(job.play_ms) + " is not a whole number of packets of " +
                    std::to_string(media::kPacketMs) + " ms");
    }
    packets_ = job.play_ms / media::kPacketMs;
}

void RtpClient::connect() {
    session_.emplace(world.network, world.servers.of(rtp_protocol));
}

Task RtpClient::run(TransactionType /*play*/) {
    const media::Medium medium = {world.job.media_unique ? 1 : index % world.job.users + 1,
                                  world.job.rate_kbps};
    connect();
    co_await session_->describe(medium, packets_);
    const auto first = static_cast<unsigned>(random.below(session_->packets() - packets_ + 1));
    co_await session_->set_up(receiver_.open());
    co_await session_->play(first, packets_, 1 / static_cast<double>(world.clock.monotonic_ns(1)));
    co_await receiver_.receive({medium, first, packets_}, session_->start());
    co_await session_->tear_down();
}

void RtpClient::settle(bool /*failed*/) {
    receiver_.close();
    if (session_) {
        done_with(*session_);
    }
    session_.reset();
}

Traffic RtpClient::lasting() const {
    Traffic all = session_ ? session_->traffic() : Traffic{};
    all.in += receiver_.bytes_in();
    return all;
}

}  // namespace s80::loadgen
