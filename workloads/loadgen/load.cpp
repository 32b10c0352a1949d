// SPDX-License-Identifier: GPL-2.0-or-later
#include "load.h"

#include <algorithm>
#include <string>

#include "failure.h"
#include "markers.h"
#include "output.h"

namespace s80::loadgen {

namespace {

/// Clients that log in at the same time, so that the servers' start-up is not a stampede.
constexpr unsigned kLoginConcurrency = 18;

/// The longest wait without a look at the phase, which may change while all clients wait for replies.
constexpr std::uint64_t kLongestWaitNs = 50'000'000;

std::uint64_t to_ns(double seconds) {
    return static_cast<std::uint64_t>(seconds * static_cast<double>(kNsPerS));
}

}  // namespace

Load::Load(World& world, const PhasePage& page) : world_(world), page_(page), incoming_(world) {
    for (unsigned i = 0; i < world.job.clients; ++i) {
        clients_.push_back(world.job.protocol->make_client(world, i));
    }
}

void Load::log_in() {
    while (started_ < std::min(kLoginConcurrency, world_.job.clients)) {
        log_in_next();
    }
    while (world_.fatal.empty() && logged_in_ < clients_.size()) {
        turn();
    }
}

void Load::run() {
    if (!world_.fatal.empty()) {
        return;
    }
    if (!page_.accepted()) {
        require_phases(world_.job);
    }
    world_.clock.refresh();
    begin_mix();
    Phase last = Phase::warm_up;
    while (world_.fatal.empty()) {
        turn();
        if (world_.mail_queue) {
            world_.mail_queue->look_by_turns(world_.clock.now());
        }
        const Phase now = phase();
        if (now != last && last == Phase::warm_up) {
            begin_region();
        }
        last = now;
        if (now == Phase::done) {
            break;
        }
    }
    world_.statistics.end_region(world_.clock.now());
    if (world_.mail_queue) {
        world_.mail_queue->end_region();
    }
    output::result(world_);
}

void Load::log_in_next() {
    Client& client = *clients_[started_++];
    client.start([this] {
        ++logged_in_;
        if (started_ < clients_.size()) {
            log_in_next();
        }
    });
}

void Load::begin_mix() {
    marker::load_begin();
    load_begin_ns_ = world_.clock.now();
    begin_region();
    output::load_begin(load_begin_ns_);
    for (const auto& client : clients_) {
        client->begin();
    }
    incoming_.begin();
    for (std::size_t i = 0; i < world_.job.scripts.size(); ++i) {
        if (world_.job.scripts[i].open()) {
            world_.arrivals[i]->begin(world_.job.scripts[i], world_.job.seed);
        }
    }
}

void Load::begin_region() {
    world_.statistics.begin_region(world_.clock.now());
    if (world_.mail_queue) {
        world_.mail_queue->begin_region(world_.clock.now());
    }
}

void Load::turn() {
    world_.loop.wait(timeout_ns());
    world_.statistics.woken(world_.loop.ready());
    world_.clock.refresh();
    world_.loop.dispatch();
    world_.timers.fire(world_.clock.now());
    world_.network.check_timeouts();
    incoming_.tidy();
}

std::uint64_t Load::timeout_ns() const {
    const std::uint64_t now = world_.clock.now();
    const std::uint64_t due = world_.timers.next();
    return world_.clock.monotonic_ns(std::min(due > now ? due - now : 0, kLongestWaitNs));
}

void Load::take(const Job& job) {
    if (job.protocol != world_.job.protocol) {
        throw Fatal("job: the protocol of a checkpoint cannot change: it has clients of " +
                    std::string(world_.job.protocol->name));
    }
    if (job.clients != world_.job.clients || job.users != world_.job.users) {
        throw Fatal("job: clients and users of a checkpoint cannot change: it has " +
                    std::to_string(world_.job.clients) + " clients of " + std::to_string(world_.job.users) +
                    " users");
    }
    if (job.tls != world_.job.tls) {
        throw Fatal("job: tls of a checkpoint cannot change: its clients have connected");
    }
    if (job.script_lines != world_.job.script_lines) {
        throw Fatal("job: the scripts of a checkpoint cannot change");
    }
    world_.take(job);
    output::job(job);
}

Phase Load::phase() const {
    if (page_.accepted()) {
        return page_.phase();
    }
    const std::uint64_t elapsed = world_.clock.now() - load_begin_ns_;
    const std::uint64_t warmup = to_ns(world_.job.warmup_s);
    if (elapsed < warmup) {
        return Phase::warm_up;
    }
    return elapsed < warmup + to_ns(world_.job.measure_s) ? Phase::measured : Phase::done;
}

}  // namespace s80::loadgen
