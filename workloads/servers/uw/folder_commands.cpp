// SPDX-License-Identifier: GPL-2.0-or-later
// Commands on mailboxes by name.
#include <array>
#include <utility>

#include "callbacks.h"
#include "list_attributes.h"
#include "mail_store.h"
#include "replies.h"
#include "session.h"

namespace s80::uw {

namespace {

/// A mailbox's name; INBOX in any case is one name.
std::string mailbox_name(Parser& parser) {
    std::string name = parser.astring();
    return upper(name) == "INBOX" ? "INBOX" : name;
}

}  // namespace

void Session::select(Parser& parser) {
    open(parser, false);
}

void Session::examine(Parser& parser) {
    open(parser, true);
}

void Session::open(Parser& parser, bool read_only) {
    parser.space();
    const std::string name = mailbox_name(parser);
    parser.end();
    deselect();
    note(user_ + ", mailbox " + name);
    mailbox_.emplace(name, read_only);
    state_ = State::selected;
    told_messages_ = mailbox_->count();
    told_recent_ = mailbox_->recent();
    untagged(std::to_string(told_messages_) + " EXISTS");
    untagged(std::to_string(told_recent_) + " RECENT");
    untagged("OK [UIDVALIDITY " + std::to_string(mailbox_->uid_validity()) + "] UIDs are valid");
    untagged("OK [UIDNEXT " + std::to_string(mailbox_->uid_next()) + "] Predicted next UID");
    std::string flags = "\\Answered \\Flagged \\Deleted \\Draft \\Seen";
    for (const std::string& keyword : mailbox_->keywords()) {
        flags += " " + keyword;
    }
    untagged("FLAGS (" + flags + ")");
    const char* more = mailbox_->keeps_keywords() ? " \\*" : "";
    untagged("OK [PERMANENTFLAGS (" + (mailbox_->read_only() ? std::string() : flags + more) +
             ")] Kept flags");
    if (const unsigned long unseen = mailbox_->first_unseen()) {
        untagged("OK [UNSEEN " + std::to_string(unseen) + "] First without \\Seen");
    }
    code_ = mailbox_->read_only() ? "[READ-ONLY] " : "[READ-WRITE] ";
}

void Session::list(Parser& parser) {
    parser.space();
    const std::string reference = parser.astring();
    parser.space();
    const std::string pattern = parser.pattern();
    parser.end();
    for (const Listed& mailbox : list_mailboxes(reference, pattern)) {
        const std::string delimiter = mailbox.delimiter == 0 ? "NIL" : as_string({&mailbox.delimiter, 1});
        untagged("LIST (" + list_attributes(mailbox.attributes) + ") " + delimiter + " " +
                 as_string(mailbox.name));
    }
}

void Session::create(Parser& parser) {
    parser.space();
    const std::string name = mailbox_name(parser);
    parser.end();
    create_mailbox(name);
}

void Session::remove(Parser& parser) {
    parser.space();
    const std::string name = mailbox_name(parser);
    parser.end();
    delete_mailbox(name);
}

void Session::rename(Parser& parser) {
    parser.space();
    const std::string from = mailbox_name(parser);
    parser.space();
    const std::string to = mailbox_name(parser);
    parser.end();
    rename_mailbox(from, to);
}

void Session::append(Parser& parser) {
    parser.space();
    const std::string name = mailbox_name(parser);
    parser.space();
    std::string flags;
    if (parser.peek() == '(') {
        for (const std::string& flag : parser.flags()) {
            flags.append(flags.empty() ? "(" : " ").append(flag);
        }
        if (!flags.empty()) {
            flags += ')';
        }
        parser.space();
    }
    std::string date;
    if (parser.peek() == '"') {
        date = parser.string();
        parser.space();
    }
    const std::string message = parser.string();
    parser.end();
    append_message(name, flags, date, message);
}

}  // namespace s80::uw
