// SPDX-License-Identifier: GPL-2.0-or-later
// One client's session: reads a command, performs it, reports changes of the selected mailbox, and sends the
// tagged reply.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "accounts.h"
#include "byte_stream.h"
#include "command_reader.h"
#include "mailbox.h"
#include "parser.h"

namespace s80::uw {

class Session {
public:
    /// note: where the session writes its user and mailbox, for the listener (listener.h).
    Session(ByteStream& stream, const Accounts& accounts, std::span<char> note)
        : stream_(stream), reader_(stream), accounts_(accounts), note_(note) {}

    /// Runs until LOGOUT, a farewell, or until the client closes the connection (then it throws Gone).
    void run();

private:
    enum class State { greeted, logged_in, selected, logged_out };
    struct Command;
    static const Command* find(std::string_view name);

    void answer(std::string_view text);
    void dispatch(std::string_view tag, Parser& parser);
    void untagged(std::string_view text);
    void tell_changes();
    void tell_flags(unsigned long message);
    void deselect();
    void note(const std::string& text);

    // In any state.
    void capability(Parser& parser);
    void noop(Parser& parser);
    void logout(Parser& parser);
    void login(Parser& parser);

    // Mailboxes by name.
    void select(Parser& parser);
    void examine(Parser& parser);
    void list(Parser& parser);
    void create(Parser& parser);
    void remove(Parser& parser);
    void rename(Parser& parser);
    void append(Parser& parser);
    void open(Parser& parser, bool read_only);

    // Messages of the selected mailbox.
    void check(Parser& parser);
    void close(Parser& parser);
    void expunge(Parser& parser);
    void fetch(Parser& parser);
    void store(Parser& parser);
    void copy(Parser& parser);
    void search(Parser& parser);
    void uid(Parser& parser);

    ByteStream& stream_;
    CommandReader reader_;
    const Accounts& accounts_;
    std::span<char> note_;
    std::string user_;
    State state_ = State::greeted;
    std::optional<Mailbox> mailbox_;
    unsigned long told_messages_ = 0;
    unsigned long told_recent_ = 0;
    long checkpoint_s_ = 0;
    bool by_uid_ = false;  // the command is UID COPY, UID FETCH, UID SEARCH or UID STORE
    std::string code_;     // "[READ-WRITE]", in front of the tagged OK's text
};

/// A command: its name, the state that it needs, and its function.
struct Session::Command {
    std::string_view name;
    State least;
    void (Session::*run)(Parser&);
};

}  // namespace s80::uw
