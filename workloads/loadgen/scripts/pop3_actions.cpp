// SPDX-License-Identifier: GPL-2.0-or-later
// The POP3 commands that may be steps of a script, in sessions that check the replies.
#include <array>
#include <string>
#include <utility>

#include "scripts/script_client.h"

namespace s80::loadgen {

namespace {

using Form = Action::Form;

Task connect(ScriptClient& client, const Step&) {
    return client.timed(
        "pop3", "connect",
        client.new_pop3().connect(client.world.servers.of(pop3_protocol), client.world.tls_of_job()));
}

Task login(ScriptClient& client, const Step&) {
    Pop3Session& session = client.pop3();
    co_await client.timed("pop3", "user", session.give_user(Accounts::user(client.account)));
    co_await client.timed("pop3", "pass", session.give_password(Accounts::kPassword));
}

Task stat(ScriptClient& client, const Step&) {
    return client.timed("pop3", "stat", client.pop3().count());
}

Task list(ScriptClient& client, const Step&) {
    return client.timed("pop3", "list", client.pop3().list());
}

Task uidl(ScriptClient& client, const Step&) {
    return client.timed("pop3", "uidl", client.pop3().name_all());
}

/// The next message; nothing once all were retrieved.
Task retr(ScriptClient& client, const Step&) {
    Pop3Session& session = client.pop3();
    if (session.sizes().size() != session.messages()) {
        throw Failure(ErrorKind::protocol, "the script has no `list` before `retr`");
    }
    if (client.retrieved == session.messages()) {
        co_return;
    }
    client.removable = ++client.retrieved;
    const std::uint64_t begin_ns = client.world.clock.now();
    co_await session.retrieve(client.retrieved);
    const std::size_t bytes = session.sizes()[client.retrieved - 1];
    client.answered("pop3", "retr", begin_ns, client.world.job.sizes.nearest(bytes));
}

/// The message that was retrieved last.
Task dele(ScriptClient& client, const Step&) {
    const unsigned message = std::exchange(client.removable, 0);
    if (message == 0) {
        co_return;
    }
    co_await client.timed("pop3", "dele", client.pop3().remove(message));
}

Task quit(ScriptClient& client, const Step&) {
    co_await client.timed("pop3", "quit", client.pop3().quit());
    client.leave();
}

constexpr std::array<Action, 8> kAll = {{{"connect", Form::none, connect},
                                         {"login", Form::none, login},
                                         {"stat", Form::none, stat},
                                         {"list", Form::none, list},
                                         {"uidl", Form::none, uidl},
                                         {"retr", Form::none, retr},
                                         {"dele", Form::none, dele},
                                         {"quit", Form::none, quit}}};

}  // namespace

const std::span<const Action> pop3_actions = kAll;

}  // namespace s80::loadgen
