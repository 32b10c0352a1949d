// SPDX-License-Identifier: GPL-2.0-or-later
// What all clients of a run share.
#pragma once

#include <string>

#include "clock.hpp"
#include "connection.hpp"
#include "event_loop.hpp"
#include "job.hpp"
#include "mailboxes.hpp"
#include "message_text.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "timers.hpp"

namespace s80::loadgen {

struct Servers {
    Endpoint imap;
    Endpoint smtp;
};

struct World {
    World(Clock& the_clock, const Servers& the_servers, bool verify, const Job& the_job)
        : clock(the_clock), servers(the_servers), tls(verify), accounts(the_job.users) {
        take(the_job);
    }

    void take(const Job& new_job) {
        job = new_job;
        mix = job.make_mix();
        network.set_reply_timeout(job.reply_timeout_s);
    }

    /// Ends the run; the first reason counts.
    void give_up(const std::string& reason) {
        if (fatal.empty()) fatal = reason;
    }

    Clock& clock;
    Servers servers;
    TlsContext tls;
    EventLoop loop;
    Network network{loop, clock};
    Timers timers;
    Job job;
    Mix mix;
    Accounts accounts;
    MessageText text;
    Statistics statistics;
    std::string move;    // how MOVE is done, once a client knows
    std::string fatal;   // why the run cannot go on
    bool trace = false;  // one line a transaction in the output
};

}  // namespace s80::loadgen
