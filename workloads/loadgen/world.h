// SPDX-License-Identifier: GPL-2.0-or-later
// What all clients of a run share.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounts.h"
#include "clock.h"
#include "connection.h"
#include "deal.h"
#include "event_loop.h"
#include "job.h"
#include "mail_queue.h"
#include "message_text.h"
#include "scripts/arrivals.h"
#include "statistics.h"
#include "stream.h"
#include "timers.h"

namespace s80::loadgen {

struct Servers {
    std::map<const Protocol*, Endpoint> by_protocol;
    std::vector<Endpoint> smtp;  // not empty: of one mail transfer agent, connections take turns

    const Endpoint& of(const Protocol& protocol) const { return by_protocol.at(&protocol); }
    const Endpoint& next_smtp() { return smtp[next_++ % smtp.size()]; }

private:
    std::size_t next_ = 0;
};

struct World {
    World(Clock& the_clock, Servers the_servers, bool verify, const Job& the_job)
        : clock(the_clock),
          servers(std::move(the_servers)),
          tls(verify),
          accounts(the_job.users),
          statistics(the_job.transactions.size()) {
        take(the_job);
        for (std::size_t i = 0; i < job.scripts.size(); ++i) {
            arrivals.push_back(std::make_unique<Arrivals>(clock, timers, statistics, i));
        }
    }

    void take(const Job& new_job) {
        job = new_job;
        clock.set_shift(job.clock_shift);
        if (job.scripts.empty()) {
            deal.emplace(job.make_mix(), job.seed);
        }
        network.set_reply_timeout(job.reply_timeout_s);
    }

    /// For connections to the job's servers; null where they have no TLS.
    const TlsContext* tls_of_job() const { return job.tls ? &tls : nullptr; }

    /// Ends the run; the first reason counts.
    void give_up(const std::string& reason) {
        if (fatal.empty()) {
            fatal = reason;
        }
    }

    Clock& clock;
    Servers servers;
    TlsContext tls;
    EventLoop loop;
    Network network{loop, clock};
    Timers timers;
    Job job;
    std::optional<Deal> deal;  // of the mix; empty where scripts say what is done
    Accounts accounts;
    MessageText text;
    Statistics statistics;
    std::vector<std::unique_ptr<Arrivals>> arrivals;  // of the scripts; closed ones have no use for theirs
    std::optional<MailQueue> mail_queue;              // where the mail transport's log is known
    std::string move;                                 // IMAP: how MOVE is done, once a client knows
    std::string fatal;                                // why the run cannot go on
    bool trace = false;                               // one line a transaction in the output
};

}  // namespace s80::loadgen
