// SPDX-License-Identifier: GPL-2.0-or-later
// A client that follows a script. A transaction is the work between two waits. The client's draws and their
// order depend on seed and client only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "imap/session.h"
#include "mail_client.h"
#include "pop3/session.h"
#include "scripts/script.h"

namespace s80::loadgen {

/// The client's knowledge of an IMAP connection's mailbox, in addition to the session's.
struct Reading {
    std::string mailbox;  // the one selected last
    unsigned highest_uid = 0;
    unsigned next = 0;  // message whose header was fetched and whose body was not; 0: none
    unsigned end = 0;
    unsigned marked = 0;  // messages marked \Deleted and not expunged
};

class ScriptClient final : public MailClient {
public:
    ScriptClient(World& the_world, unsigned the_index);

    // For the steps:
    const Script& script() const { return world.job.scripts[number_]; }
    /// The session of the connection that the script uses. Throws Failure if it is not open.
    ImapSession& imap();
    Pop3Session& pop3();
    /// A new session. A session that is still open there is closed.
    ImapSession& new_imap();
    Pop3Session& new_pop3();
    /// Removes the session of a closed connection.
    void leave();
    /// Measures a command that is answered at once.
    Task timed(std::string_view protocol, std::string name, Task command);
    /// Records the time of a command that began at begin_ns, about a message of `bytes`.
    void answered(std::string_view protocol, std::string name, std::uint64_t begin_ns, std::size_t bytes = 0);
    /// A message of exactly the step's size, or of a drawn size.
    std::string compose(const Step& step, const std::string& to);

    /// The data of the connection that the script uses.
    Reading& reading() { return readings_[connection_]; }

    unsigned retrieved = 0;  // of the POP3 session's messages
    unsigned removable = 0;  // the one that was retrieved last, until it is removed

private:
    static constexpr std::size_t kMostConnections = 4;

    Task log_in() override;
    double first_think_ns() override;
    Task set_out() override;
    Task rest() override;
    TransactionType draw() override { return number_; }
    TransactionType allowed(TransactionType drawn) override { return drawn; }
    Task run(TransactionType type) override;
    void settle(bool failed) override;
    Traffic lasting() const override;

    /// Performs the step at `at` and advances to the next. The caller performs waits and actions.
    void take(const std::vector<Step>& steps, std::size_t& at);
    bool offline() const;

    std::size_t number_ = 0;      // of its script
    unsigned place_ = 0;          // among the script's clients
    std::size_t at_ = 0;          // the next step
    std::vector<unsigned> left_;  // repetitions, by step
    std::size_t connection_ = 0;
    std::array<std::unique_ptr<ImapSession>, kMostConnections> imap_;
    std::array<Reading, kMostConnections> readings_;
    std::unique_ptr<Pop3Session> pop3_;
};

}  // namespace s80::loadgen
