// SPDX-License-Identifier: GPL-2.0-or-later
// The queue of the mail transfer agent, from its log: accepted envelopes that have neither been delivered
// nor rejected. A message to three recipients counts as three envelopes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace s80::loadgen {

/// OpenSMTPD's counts since its log began.
struct MailCounts {
    std::uint64_t accepted = 0;   // envelopes
    std::uint64_t delivered = 0;  // of them
    std::uint64_t put_off = 0;    // attempts that failed and are made again later: the envelope stays
    std::uint64_t refused = 0;    // envelopes that it gave up
};

class MailQueue {
public:
    /// `log`: OpenSMTPD's. Throws Fatal if the file cannot be opened.
    explicit MailQueue(const std::string& log);
    ~MailQueue();
    MailQueue(const MailQueue&) = delete;
    MailQueue& operator=(const MailQueue&) = delete;

    /// Reads new lines of the log. These functions throw Fatal if the log cannot be read.
    void look();

    /// Reads the log at fixed intervals. Called once per iteration of the event loop.
    void look_by_turns(std::uint64_t now_ns);

    void begin_region(std::uint64_t now_ns);
    void end_region();

    /// The number of envelopes at the last look.
    std::uint64_t length() const;

    const MailCounts& counts() const { return counts_; }

    // Of the region: its first look is at its begin, its last at its end.
    std::uint64_t looks() const { return looks_; }
    double mean() const;
    std::uint64_t begin() const { return begin_; }
    std::uint64_t accepted() const { return counts_.accepted - accepted_before_; }

private:
    void look_in_region();
    void take(std::string_view line);

    int file_;
    std::string unread_;  // the begin of a line whose end is not there yet
    MailCounts counts_;
    std::uint64_t next_look_ns_ = 0;
    std::uint64_t looks_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t accepted_before_ = 0;
};

}  // namespace s80::loadgen
