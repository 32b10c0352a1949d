// SPDX-License-Identifier: GPL-2.0-or-later
// The course of a load: clients log in, the mix runs through warm-up and region, and the result is printed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client.h"
#include "incoming.h"
#include "phase_page.h"
#include "world.h"

namespace s80::loadgen {

class Load {
public:
    /// `page`: may be accepted before run(). Without a page, the job states the lengths of the phases.
    Load(World& world, const PhasePage& page);

    /// Logs all clients in. If a login fails, world.fatal holds the reason.
    void log_in();

    /// Gives the existing clients another job. Throws Fatal if they cannot perform it.
    void take(const Job& job);

    /// Runs the load to the end of its region and prints the result. If the load fails, world.fatal holds the
    /// reason. Throws Fatal if the clients cannot perform the job.
    void run();

private:
    void log_in_next();
    void begin_mix();
    void begin_region();
    void turn();
    Phase phase() const;
    std::uint64_t timeout_ns() const;

    World& world_;
    const PhasePage& page_;
    std::vector<std::unique_ptr<Client>> clients_;
    Incoming incoming_;
    unsigned logged_in_ = 0;
    unsigned started_ = 0;
    std::uint64_t load_begin_ns_ = 0;
};

}  // namespace s80::loadgen
