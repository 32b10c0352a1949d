// SPDX-License-Identifier: GPL-2.0-or-later
#include "session.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

#include "callbacks.h"
#include "mail_store.h"
#include "replies.h"

namespace s80::uw {

namespace {

constexpr std::string_view kCapability = "CAPABILITY IMAP4rev1";
constexpr long kCheckpointEveryS = 5 * 60;  // as UW's imapd

long now_s() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

}  // namespace

const Session::Command* Session::find(std::string_view name) {
    static constexpr std::array<Command, 19> kEntries = {{
        {"CAPABILITY", State::greeted, &Session::capability},
        {"NOOP", State::greeted, &Session::noop},
        {"LOGOUT", State::greeted, &Session::logout},
        {"LOGIN", State::greeted, &Session::login},
        {"SELECT", State::logged_in, &Session::select},
        {"EXAMINE", State::logged_in, &Session::examine},
        {"LIST", State::logged_in, &Session::list},
        {"CREATE", State::logged_in, &Session::create},
        {"DELETE", State::logged_in, &Session::remove},
        {"RENAME", State::logged_in, &Session::rename},
        {"APPEND", State::logged_in, &Session::append},
        {"CHECK", State::selected, &Session::check},
        {"CLOSE", State::selected, &Session::close},
        {"EXPUNGE", State::selected, &Session::expunge},
        {"FETCH", State::selected, &Session::fetch},
        {"STORE", State::selected, &Session::store},
        {"COPY", State::selected, &Session::copy},
        {"SEARCH", State::selected, &Session::search},
        {"UID", State::selected, &Session::uid},
    }};
    for (const Command& command : kEntries) {
        if (command.name == name) {
            return &command;
        }
    }
    return nullptr;
}

void Session::run() {
    try {
        untagged("OK [" + std::string(kCapability) + "] s80-uw-imapd on c-client");
        stream_.flush();
        std::string text;
        while (state_ != State::logged_out) {
            const auto result = reader_.next(text);
            if (result == CommandReader::Result::command) {
                answer(text);
            } else {
                const std::string tag = text.substr(0, text.find(' '));
                stream_.write(as_text(tag.empty() ? "*" : tag) + " BAD The command is too long\r\n");
            }
            stream_.flush();
        }
    } catch (const Farewell& farewell) {
        untagged("BYE " + as_text(farewell.what()));
        stream_.flush();
    }
}

void Session::answer(std::string_view text) {
    Parser parser(text);
    std::string_view tag = "*";
    try {
        tag = parser.tag();
        dispatch(tag, parser);
    } catch (const BadSyntax& error) {
        stream_.write(std::string(tag) + " BAD " + as_text(error.what()) + "\r\n");
    } catch (const Refused& error) {
        if (mailbox_) {
            tell_changes();
        }
        stream_.write(std::string(tag) + " NO " + as_text(error.what()) + "\r\n");
    }
}

void Session::dispatch(std::string_view tag, Parser& parser) {
    parser.space();
    const std::string name = parser.keyword();
    const Command* command = find(name);
    if (command == nullptr) {
        throw BadSyntax("Unknown command " + name);
    }
    if (state_ < command->least) {
        throw BadSyntax(command->least == State::selected && state_ == State::logged_in
                            ? "No mailbox is selected"
                            : "Log in first");
    }
    by_uid_ = false;
    code_.clear();
    (this->*command->run)(parser);
    if (mailbox_) {
        tell_changes();
    }
    stream_.write(std::string(tag) + " OK " + code_ + name + " completed\r\n");
}

void Session::untagged(std::string_view text) {
    stream_.write("* ");
    stream_.write(text);
    stream_.write("\r\n");
}

/// Between two commands of the client: new mail, messages that are gone, flags that have changed.
void Session::tell_changes() {
    mailbox_->ping();
    if (now_s() - checkpoint_s_ > kCheckpointEveryS) {
        mailbox_->checkpoint();
        checkpoint_s_ = now_s();
    }
    for (const unsigned long number : events().expunged) {
        untagged(std::to_string(number) + " EXPUNGE");
        --told_messages_;
    }
    events().expunged.clear();
    if (told_messages_ != mailbox_->count()) {
        told_messages_ = mailbox_->count();
        untagged(std::to_string(told_messages_) + " EXISTS");
    }
    if (told_recent_ != mailbox_->recent()) {
        told_recent_ = mailbox_->recent();
        untagged(std::to_string(told_recent_) + " RECENT");
    }
    std::vector<unsigned long>& flagged = events().flagged;
    std::sort(flagged.begin(), flagged.end());
    flagged.erase(std::unique(flagged.begin(), flagged.end()), flagged.end());
    for (const unsigned long message : flagged) {
        tell_flags(message);
    }
    flagged.clear();
}

void Session::tell_flags(unsigned long message) {
    std::string text = std::to_string(message) + " FETCH (FLAGS (" + mailbox_->flags(message) + ")";
    if (by_uid_) {
        text += " UID " + std::to_string(mailbox_->uid(message));
    }
    untagged(text + ")");
}

void Session::deselect() {
    mailbox_.reset();
    if (state_ == State::selected) {
        state_ = State::logged_in;
    }
}

void Session::note(const std::string& text) {
    const std::string line = as_text(text).substr(0, note_.size() - 1);
    std::copy_n(line.c_str(), line.size() + 1, note_.begin());
}

void Session::capability(Parser& parser) {
    parser.end();
    untagged(kCapability);
}

void Session::noop(Parser& parser) {
    parser.end();
}

void Session::logout(Parser& parser) {
    parser.end();
    deselect();
    untagged("BYE Until next time");
    state_ = State::logged_out;
}

void Session::login(Parser& parser) {
    parser.space();
    const std::string user = parser.astring();
    parser.space();
    const std::string password = parser.astring();
    parser.end();
    if (state_ != State::greeted) {
        throw BadSyntax("Already logged in");
    }
    const auto home = accounts_.log_in(user, password);
    if (!home) {
        throw Refused("Wrong user or password");
    }
    note(user_ = user);
    begin_mail(user, *home);
    state_ = State::logged_in;
}

}  // namespace s80::uw
