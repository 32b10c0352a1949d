// SPDX-License-Identifier: GPL-2.0-or-later
// An emulated user: one online session that thinks, draws a transaction, does it, and thinks again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "imap_session.hpp"
#include "mailboxes.hpp"
#include "random.hpp"
#include "task.hpp"
#include "timers.hpp"
#include "transaction_type.hpp"
#include "world.hpp"

namespace s80::loadgen {

class Client {
public:
    Client(World& world, unsigned index);

    /// Logs in and selects a first mailbox; then calls `logged_in` and waits for begin().
    void start(std::function<void()> logged_in);
    /// Starts the first think time, of which a random part is over already.
    void begin();

    // For the transactions:
    /// Selects a mailbox and notes how many messages it has.
    Task select(std::size_t mailbox);
    /// Takes over what the session knows about the selected mailbox.
    void note_messages();
    /// A random message of the selected mailbox, which is not empty.
    unsigned random_message() { return 1 + static_cast<unsigned>(random.below(imap.messages())); }
    /// Takes a word to search for from a message's header, and remembers which message has it.
    void learn_subject(unsigned message, std::string_view header);

    World& world;
    const unsigned index;
    const std::size_t account;
    ImapSession imap;
    Mailboxes mailboxes;
    Random random;             // what a transaction is done to
    std::string subject_word;  // in the subject of the message imap.remembered
    std::uint64_t smtp_bytes_in = 0;
    std::uint64_t smtp_bytes_out = 0;

private:
    Task live(std::function<void()> logged_in);
    Task log_in();
    Task transact();
    void draw_from_seed();
    double draw_think_ns();
    void failed(const Failure& failure);

    Random decisions_;  // which transaction, and when: apart, so that their order repeats exactly
    Timer think_;
    std::uint64_t think_begin_ns_ = 0;
    TransactionType drawn_ = TransactionType::SELT;
    bool first_ = true;
    Task task_;
};

}  // namespace s80::loadgen
