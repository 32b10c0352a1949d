// SPDX-License-Identifier: GPL-2.0-or-later
// The job: the host's instructions to the load generator (docs/reference/interfaces/job.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mix.h"
#include "protocol.h"
#include "scripts/script.h"

namespace s80::loadgen {

enum class MoveMode { automatic, move, copy };

struct Job {
    bool hold = false;  // log the clients in, then wait for a job that does not hold
    std::string mix = "unnamed";
    const Protocol* protocol = &imap_protocol;
    std::vector<std::string> transactions;  // names of the protocol's, or of the scripts
    unsigned clients = 1;
    unsigned users = 1;
    double think_ms = 0;
    bool think_constant = false;
    std::uint64_t seed = 1;
    bool chain = true;  // false: independent draws
    Weights mix_percent;
    std::vector<Weights> transitions;
    unsigned mailboxes_min = 2;
    unsigned mailboxes_max = 100;
    unsigned messages_min = 1;
    unsigned messages_max = 10000;
    double incoming_per_s = 0;
    MoveMode move = MoveMode::automatic;
    unsigned header_fetch = 0;    // messages that SELT fetches the headers of in one FETCH; 0: all
    unsigned retrieve_max = 10;   // messages that a POP3 session retrieves
    double delete_percent = 100;  // of the messages that it has retrieved
    unsigned requests_max = 10;   // HTTP requests that a connection is kept for
    unsigned batch = 200;         // times that the warehouse server does the work of a request
    bool media_unique = true;     // all play the first user's; false: each that of its account
    unsigned rate_kbps = 300;     // of the media
    unsigned play_ms = 500;       // of a medium, at a time
    double late_ms = 500;         // a packet that is later, beside the first of its stream, is too late
    unsigned message_bytes = 64;  // of one that goes through the router, with its header
    unsigned working_set = 4096;  // bytes that a probe copies, or that each of its processes walks through
    unsigned stride = 4;          // bytes from one word that it accesses to the next
    std::vector<Script> scripts;
    SizeTable sizes;           // of the messages that scripts send
    bool tls = true;           // of connections to web servers, and of scripts' to IMAP and POP3 servers
    bool to_clients = false;   // scripts send to the clients' own accounts, else to any
    std::string script_lines;  // of the job's text, all that decides them
    double reply_timeout_s = 60;
    unsigned clock_shift = 0;  // 2^clock_shift seconds of the guest's clock are one simulated second
    double warmup_s = 0;
    double measure_s = 0;

    std::uint64_t late_ns() const { return static_cast<std::uint64_t>(late_ms * 1e6); }

    /// The mix of a job without scripts.
    Mix make_mix() const { return chain ? Mix(transitions) : Mix(mix_percent); }
};

/// Parses the text of a job. Throws Fatal with the line's key and the allowed values.
Job parse_job(std::string_view text);

/// Throws Fatal if the job does not state the lengths of its phases.
void require_phases(const Job& job);

}  // namespace s80::loadgen
