// SPDX-License-Identifier: GPL-2.0-or-later
// The action of all scripts: sends a message to random accounts over its own connection.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scripts/script_client.h"
#include "smtp_session.h"

namespace s80::loadgen {

namespace {

Task send(ScriptClient& client, const Step& step) {
    World& world = client.world;
    const std::size_t among = world.job.to_clients
                                  ? std::min<std::size_t>(world.job.clients, world.accounts.size())
                                  : world.accounts.size();
    std::vector<std::string> recipients;
    for (unsigned i = 0; i < step.count; ++i) {
        recipients.push_back(Accounts::address(client.random.below(among)));
    }
    const std::string message = client.compose(step, recipients.front());
    SmtpSession smtp(world.network);
    const auto timed = [&](const char* name, Task command) {
        return client.timed("smtp", name, std::move(command));
    };
    co_await timed("connect", smtp.connect(world.servers.next_smtp()));
    co_await timed("helo", smtp.exchange("HELO loadgen.s80.example", '2'));
    co_await timed("mail", smtp.exchange("MAIL FROM:<" + Accounts::address(client.account) + ">", '2'));
    for (const std::string& recipient : recipients) {
        co_await timed("rcpt", smtp.exchange("RCPT TO:<" + recipient + ">", '2'));
    }
    const std::uint64_t begin_ns = world.clock.now();
    co_await smtp.data(message);
    client.answered("smtp", "data", begin_ns, message.size());
    co_await timed("quit", smtp.quit());
    client.done_with(smtp);
}

constexpr std::array<Action, 1> kAll = {{{"send", Action::Form::count_bytes, send}}};

}  // namespace

const std::span<const Action> smtp_actions = kAll;

}  // namespace s80::loadgen
