// SPDX-License-Identifier: GPL-2.0-or-later
// The IMAP commands that may be steps of a script, and the checks of their replies.
#include <algorithm>
#include <array>
#include <string>

#include "imap/mailboxes.h"
#include "imap/syntax.h"
#include "scripts/script_client.h"

namespace s80::loadgen {

namespace {

using Form = Action::Form;

constexpr const char* kFields =
    "(From To Cc Subject Date Priority X-Priority Message-ID References Newsgroups Return-Receipt-To "
    "Disposition-Notification-To)";

Task say(ScriptClient& client, std::string name, std::string command) {
    return client.timed("imap", std::move(name), client.imap().command(std::move(command)));
}

[[noreturn]] void missing(const std::string& command, std::uint64_t came, std::uint64_t wanted) {
    throw Failure(ErrorKind::missing,
                  command + " brought " + std::to_string(came) + " of " + std::to_string(wanted));
}

Task connect(ScriptClient& client, const Step&) {
    return client.timed(
        "imap", "connect",
        client.new_imap().connect(client.world.servers.of(imap_protocol), client.world.tls_of_job()));
}

/// Nothing for a connection that the server has authenticated in its greeting (PREAUTH).
Task login(ScriptClient& client, const Step&) {
    if (client.imap().authenticated()) {
        co_return;
    }
    co_await say(client, "login",
                 "LOGIN " + Accounts::user(client.account) + " " + std::string(Accounts::kPassword));
}

Task capability(ScriptClient& client, const Step&) {
    return say(client, "capability", "CAPABILITY");
}

Task name_space(ScriptClient& client, const Step&) {
    return say(client, "namespace", "NAMESPACE");
}

Task noop(ScriptClient& client, const Step&) {
    return say(client, "noop", "NOOP");
}

Task list(ScriptClient& client, const Step& step) {
    return say(client, "list", "LIST \"\" \"" + step.word + "\"");
}

Task select(ScriptClient& client, const Step& step) {
    co_await say(client, "select", "SELECT \"" + step.word + "\"");
    const std::string& last = client.reading().mailbox;
    const bool inbox = same_word(last, "INBOX") && same_word(step.word, "INBOX");
    if (last != step.word && !inbox) {
        client.reading() = {step.word, 0, 0, 0, 0};
    }
    client.reading().next = client.reading().end = client.imap().remembered = 0;
}

/// One FETCH of all messages, of the last (whose UID was the highest when it was looked last, and those above
/// it), or of so many in a row at a random place.
Task fetch(ScriptClient& client, const Step& step, std::string name, std::string items) {
    Reading& reading = client.reading();
    const unsigned messages = client.imap().messages();
    const bool some = !step.last && step.count > 0;
    unsigned expected = step.last ? std::min(messages, 1u) : messages;
    std::string command;
    if (some) {
        expected = std::min(messages, step.count);
        if (expected == 0) {
            co_return;
        }
        reading.next = 1 + static_cast<unsigned>(client.random.below(messages - expected + 1));
        reading.end = reading.next + expected;
        command = "FETCH " + std::to_string(reading.next) + ":" + std::to_string(reading.end - 1);
    } else {
        const unsigned from = step.last ? std::max(1u, reading.highest_uid) : 1;
        command = "UID FETCH " + std::to_string(from) + ":*";
    }
    const bool with_text = name.starts_with("headers");
    name += step.last ? " last" : some ? " " + std::to_string(step.count) : std::string(" all");
    co_await say(client, name, command + " " + items);
    const ImapReply& reply = client.imap().reply();
    const unsigned brought = with_text ? reply.fetched : reply.answers;
    if (brought < expected) {
        missing(command, brought, expected);
    }
    reading.highest_uid = std::max(reading.highest_uid, reply.highest_uid);
}

Task flags(ScriptClient& client, const Step& step) {
    return fetch(client, step, "flags", "(FLAGS)");
}

Task headers(ScriptClient& client, const Step& step) {
    return fetch(client, step, "headers",
                 std::string("(UID RFC822.SIZE FLAGS BODY.PEEK[HEADER.FIELDS ") + kFields + "])");
}

/// The next of those whose headers were fetched, else a random one; nothing of an empty mailbox.
Task body(ScriptClient& client, const Step&) {
    Reading& reading = client.reading();
    ImapSession& imap = client.imap();
    if (imap.messages() == 0) {
        co_return;
    }
    const bool listed = reading.next < reading.end && reading.next <= imap.messages();
    const unsigned message =
        listed ? reading.next++ : 1 + static_cast<unsigned>(client.random.below(imap.messages()));
    const std::string command = "FETCH " + std::to_string(message) + " (UID RFC822.SIZE BODY[])";
    const std::uint64_t begin_ns = client.world.clock.now();
    imap.want(message);
    co_await imap.command(command);
    const FetchedMessage& fetched = imap.reply().wanted;
    if (fetched.texts != 1) {
        missing(command, fetched.texts, 1);
    }
    if (fetched.text_bytes == 0 || fetched.text_bytes != fetched.size) {
        missing(command + " in bytes", fetched.text_bytes, fetched.size);
    }
    client.answered("imap", "fetch", begin_ns, client.world.job.sizes.nearest(fetched.text_bytes));
    imap.remembered = message;
}

/// The number of the message that was read last, else of a random one; the mailbox must not be empty.
unsigned chosen_message(ScriptClient& client) {
    ImapSession& imap = client.imap();
    if (imap.remembered == 0) {
        imap.remembered = 1 + static_cast<unsigned>(client.random.below(imap.messages()));
    }
    return imap.remembered;
}

/// A system flag, with or without its backslash, or a keyword such as $Forwarded.
std::string flag(std::string_view word) {
    const bool complete = word.starts_with('\\') || word.starts_with('$');
    return (complete ? "" : "\\") + std::string(word);
}

Task store(ScriptClient& client, const Step& step) {
    constexpr int kAttempts = 2;
    ImapSession& imap = client.imap();
    if (imap.messages() == 0) {
        co_return;
    }
    const unsigned number = chosen_message(client);
    const std::string message = std::to_string(number);
    const std::string command = "STORE " + message + " +FLAGS (" + flag(step.word) + ")";
    imap.want(number);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        co_await say(client, "store", command);
        if (!same_word(flag(step.word), "\\Deleted")) {
            co_return;
        }
        client.reading().marked += imap.reply().wanted.deleted ? 1 : 0;
        // Of a flag that was set before the server need not speak.
        if (!imap.reply().wanted.deleted) {
            co_await imap.command("FETCH " + message + " (FLAGS)");
        }
        if (imap.reply().wanted.deleted) {
            co_return;
        }
        client.world.statistics.lost_flag();
    }
    missing(command, 0, 1);
}

Task expunge(ScriptClient& client, const Step&) {
    co_await say(client, "expunge", "EXPUNGE");
    // A flag that the server confirmed may be lost all the same.
    for (unsigned gone = client.imap().reply().expunged; gone < client.reading().marked; ++gone) {
        client.world.statistics.lost_flag();
    }
    client.reading().marked = client.reading().next = client.reading().end = 0;
}

Task copy(ScriptClient& client, const Step& step) {
    if (client.imap().messages() == 0) {
        co_return;
    }
    co_await say(client, "copy", "COPY " + std::to_string(chosen_message(client)) + " \"" + step.word + "\"");
}

Task move(ScriptClient& client, const Step& step) {
    ImapSession& imap = client.imap();
    if (imap.messages() == 0) {
        co_return;
    }
    const std::string command = "MOVE " + std::to_string(chosen_message(client)) + " \"" + step.word + "\"";
    co_await say(client, "move", command);
    if (imap.reply().expunged == 0) {
        missing(command, 0, 1);
    }
    client.reading().next = client.reading().end = 0;
}

Task status(ScriptClient& client, const Step& step) {
    const std::string command = "STATUS \"" + step.word + "\" (MESSAGES UIDNEXT UNSEEN)";
    co_await say(client, "status", command);
    if (client.imap().reply().statuses == 0) {
        missing(command, 0, 1);
    }
}

/// A word that is not an atom is quoted; numbers and keywords must not be.
Task search(ScriptClient& client, const Step& step) {
    const bool atom = step.word.find_first_of("(){%*]\"\\") == std::string::npos;
    std::string command = "SEARCH " + step.key;
    if (!step.word.empty()) {
        command += atom ? " " + step.word : " " + quoted(step.word);
    }
    co_await say(client, "search", command);
    if (client.imap().reply().searches == 0) {
        missing(command, 0, 1);
    }
}

Task idle(ScriptClient& client, const Step&) {
    return client.timed("imap", "idle", client.imap().idle());
}

Task done(ScriptClient& client, const Step&) {
    return client.timed("imap", "done", client.imap().done());
}

Task append(ScriptClient& client, const Step& step) {
    const std::string message = client.compose(step, Accounts::address(client.account));
    const std::uint64_t begin_ns = client.world.clock.now();
    co_await client.imap().append("\"" + step.word + "\"", message);
    client.answered(
        "imap", "append", begin_ns,
        client.world.job.sizes.empty() ? message.size() : client.world.job.sizes.nearest(message.size()));
}

Task logout(ScriptClient& client, const Step&) {
    co_await client.timed("imap", "logout", client.imap().log_out());
    client.leave();
}

constexpr std::array<Action, 20> kAll = {{{"connect", Form::none, connect},
                                          {"login", Form::none, login},
                                          {"capability", Form::none, capability},
                                          {"namespace", Form::none, name_space},
                                          {"noop", Form::none, noop},
                                          {"list", Form::word, list},
                                          {"select", Form::word, select},
                                          {"flags", Form::range, flags},
                                          {"headers", Form::range, headers},
                                          {"body", Form::none, body},
                                          {"store", Form::word, store},
                                          {"expunge", Form::none, expunge},
                                          {"copy", Form::word, copy},
                                          {"append", Form::word_bytes, append},
                                          {"status", Form::word, status},
                                          {"search", Form::key_word, search},
                                          {"move", Form::word, move},
                                          {"idle", Form::none, idle},
                                          {"done", Form::none, done},
                                          {"logout", Form::none, logout}}};

}  // namespace

const std::span<const Action> imap_actions = kAll;

}  // namespace s80::loadgen
