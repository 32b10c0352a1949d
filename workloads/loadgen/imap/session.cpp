// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/session.h"

#include <algorithm>
#include <utility>

#include "imap/syntax.h"

namespace s80::loadgen {

namespace {

constexpr std::size_t kNameLimit = 4096;
constexpr std::size_t kListLimit = 10'000;
constexpr std::size_t kListBytesLimit = 1 << 20;

/// The longest non-synchronising literal of a server that announces LITERAL- or IMAP4rev2.
constexpr std::size_t kLiteralMinusLimit = 4096;

/// Whether a sequence set, such as 2,10:15, contains a number.
bool contains(std::string_view set, unsigned wanted) {
    while (!set.empty()) {
        const std::size_t comma = std::min(set.find(','), set.size());
        const std::string_view range = set.substr(0, comma);
        set.remove_prefix(std::min(comma + 1, set.size()));
        const std::size_t colon = std::min(range.find(':'), range.size());
        unsigned first = 0, last = 0;
        if (!to_number(range.substr(0, colon), first)) {
            continue;
        }
        if (colon == range.size()) {
            last = first;
        } else if (!to_number(range.substr(colon + 1), last)) {
            continue;
        }
        if (std::min(first, last) <= wanted && wanted <= std::max(first, last)) {
            return true;
        }
    }
    return false;
}

}  // namespace

Task ImapSession::connect(const Endpoint& server, const TlsContext* tls) {
    open(server, tls);
    co_await answer();  // the greeting
}

Task ImapSession::log_in(const Endpoint& server, const TlsContext& tls, std::string_view user,
                         std::string_view password) {
    co_await connect(server, &tls);
    if (!authenticated_) {
        co_await command("LOGIN " + std::string(user) + " " + std::string(password));
    }
    co_await command("CAPABILITY");
}

Task ImapSession::command(std::string text) {
    const std::size_t name = text.starts_with("LOGIN") ? 5 : text.size();
    return exchange(std::move(text), name);
}

Task ImapSession::append(const std::string& mailbox, const std::string& message) {
    const std::string name = "APPEND " + mailbox;
    const std::string size = std::to_string(message.size());
    if (message.size() <= longest_at_once_) {
        co_await exchange(name + " {" + size + "+}\r\n" + message, name.size());
        co_return;
    }
    begin(name + " {" + size + "}", name.size(), true);
    co_await answer();
    if (in_flight_) {  // else the server has refused before the message
        rest_ = message + "\r\n";
        send(rest_, name);
        co_await answer();
    }
    check();
}

Task ImapSession::idle() {
    begin("IDLE", 4, true);
    co_await answer();
    check();
    idling_ = true;
}

Task ImapSession::done() {
    if (!idling_) {
        throw Failure(ErrorKind::protocol, "the script has no `idle` before `done`");
    }
    idling_ = false;
    if (in_flight_) {
        send("DONE\r\n", "DONE");
        co_await answer();
    } else {
        forget_answer();  // the server has ended IDLE
    }
    check();
}

Task ImapSession::log_out() {
    leaving_ = true;
    co_await command("LOGOUT");
    close();
}

Task ImapSession::exchange(std::string text, std::size_t name) {
    begin(text, name, false);
    co_await answer();
    check();
}

void ImapSession::begin(std::string_view text, std::size_t name, bool continues) {
    if (idling_) {
        throw Failure(ErrorKind::protocol,
                      "the script has no `done` between `idle` and " + std::string(text.substr(0, name)));
    }
    tag_.assign("a").append(std::to_string(++last_tag_));
    line_.assign(tag_).append(" ");
    name_ = {line_.size(), name};
    line_.append(text).append("\r\n");
    reply_.clear();
    name_follows_ = false;  // of one that a broken server is still sending nothing is wanted any more
    refusal_.clear();
    last_words_.clear();
    in_flight_ = true;
    continues_ = continues;
    send(line_, std::string_view(line_).substr(name_.begin, name_.size));
}

void ImapSession::check() const {
    if (refusal_.empty()) {
        return;
    }
    const std::string name = line_.substr(name_.begin, name_.size);
    const std::string warning = last_words_.empty() ? "" : "; it warned: " + last_words_;
    throw Failure(ErrorKind::protocol, "the server refused " + name + ": " + refusal_ + warning);
}

void ImapSession::on_text(std::string_view text, bool begins, bool has_literal, std::uint64_t literal) {
    if (!begins) {
        if (response_ == Response::fetch) {
            on_fetch_piece(text, has_literal, literal);
        } else {
            on_piece(text);
        }
    } else if (text.starts_with("* ")) {
        on_untagged(text.substr(2), has_literal, literal);
    } else if (in_flight_ && text.starts_with(tag_) && text.substr(tag_.size()).starts_with(' ')) {
        on_tagged(text.substr(tag_.size() + 1));
    } else if (text == "+" || text.starts_with("+ ")) {
        on_continuation(text);
    } else {
        throw Failure(ErrorKind::protocol, "not an IMAP reply: " + std::string(text), true);
    }
}

void ImapSession::on_literal(std::string_view part) {
    if (response_ == Response::fetch) {
        fetch_.read_literal(part);
    } else if (name_follows_) {
        add_to_name(part);
    }
}

void ImapSession::add_to_name(std::string_view part) {
    std::string& name = reply_.listed.back();
    reply_.listed_bytes += part.size();
    if (name.size() + part.size() > kNameLimit) {
        throw Failure(ErrorKind::protocol, "a mailbox has a name of more than 4 KB", true);
    }
    if (reply_.listed_bytes > kListBytesLimit) {
        throw Failure(ErrorKind::protocol, "the server lists more than 1 MB of names", true);
    }
    name += part;
}

void ImapSession::on_tagged(std::string_view text) {
    std::string_view rest = text;
    const std::string_view word = take_word(rest);
    if (same_word(word, "OK")) {
        on_code(rest);
    } else if (same_word(word, "NO") || same_word(word, "BAD")) {
        refusal_ = text;
    } else {
        throw Failure(ErrorKind::protocol, "neither OK, NO nor BAD: " + std::string(text), true);
    }
    in_flight_ = continues_ = false;
    complete();
}

void ImapSession::on_continuation(std::string_view text) {
    if (!std::exchange(continues_, false)) {
        throw Failure(ErrorKind::protocol,
                      "the server asks for the rest of a complete command: " + std::string(text), true);
    }
    complete();
}

void ImapSession::on_untagged(std::string_view text, bool has_literal, std::uint64_t literal) {
    response_ = Response::other;
    name_follows_ = false;
    std::string_view rest = text;
    const std::string_view word = take_word(rest);
    unsigned number = 0;
    if (to_number(word, number)) {
        on_numbered(number, rest, has_literal, literal);
    } else if (same_word(word, "SEARCH")) {
        on_search(rest);
    } else if (same_word(word, "LIST")) {
        response_ = Response::list;
        on_list(rest, has_literal);
    } else if (same_word(word, "OK")) {
        on_code(rest);
        if (!std::exchange(greeted_, true)) {
            complete();
        }
    } else if (same_word(word, "ESEARCH")) {
        response_ = Response::esearch;
        ++reply_.searches;
        search_depth_ = 0;
        of_other_search_ = false;
        on_extended_search(rest);
    } else if (same_word(word, "STATUS")) {
        response_ = Response::status;
        on_status(rest);
    } else if (same_word(word, "CAPABILITY")) {
        on_capability(rest);
    } else if (same_word(word, "NO") || same_word(word, "BAD")) {
        last_words_ = text;
    } else if (same_word(word, "BYE") && !leaving_) {
        throw Failure(ErrorKind::connection, "the server ended the session: " + std::string(rest));
    } else if (same_word(word, "PREAUTH") && !greeted_) {
        on_code(rest);
        greeted_ = authenticated_ = true;
        complete();
    }
}

void ImapSession::on_numbered(unsigned number, std::string_view text, bool has_literal,
                              std::uint64_t literal) {
    if (begins_with(text, "fetch ")) {
        response_ = Response::fetch;
        fetch_number_ = number;
        fetch_.begin(number == wanted_ ? &reply_.captured : nullptr);
        on_fetch_piece(text.substr(6), has_literal, literal);
    } else if (same_word(text, "EXISTS")) {
        messages_ = number;
    } else if (same_word(text, "EXPUNGE")) {
        on_expunge(number);
    }
}

void ImapSession::on_piece(std::string_view text) {
    switch (response_) {
        case Response::esearch: on_extended_search(text); break;
        case Response::status: on_status(text); break;
        case Response::list: name_follows_ = false; break;  // extended data
        case Response::fetch:
        case Response::other: break;
    }
}

void ImapSession::on_fetch_piece(std::string_view text, bool has_literal, std::uint64_t literal) {
    fetch_.read(text, has_literal, literal);
    if (has_literal) {
        return;
    }
    if (!fetch_.complete()) {
        throw Failure(
            ErrorKind::protocol,
            "a FETCH response does not end where its list ends: perhaps a literal does not have the "
            "length announced",
            true);
    }
    const FetchedMessage& message = fetch_.message();
    ++reply_.answers;
    reply_.fetched += message.texts;
    reply_.highest_uid = std::max(reply_.highest_uid, message.uid);
    if (fetch_number_ != wanted_) {
        return;
    }
    // A server may distribute the items over several responses.
    FetchedMessage& wanted = reply_.wanted;
    wanted.texts += message.texts;
    if (message.texts > 0) {
        wanted.text_bytes = message.text_bytes;
    }
    if (message.size > 0) {
        wanted.size = message.size;
    }
    wanted.deleted = wanted.deleted || message.deleted;
}

void ImapSession::on_expunge(unsigned number) {
    ++reply_.expunged;
    if (messages_ == 0 || number > messages_) {
        throw Failure(ErrorKind::protocol, "EXPUNGE of a message that does not exist", true);
    }
    --messages_;
    if (remembered == number) {
        remembered = 0;
    } else if (remembered > number) {
        --remembered;
    }
}

void ImapSession::on_search(std::string_view numbers) {
    ++reply_.searches;
    while (!numbers.empty()) {
        unsigned number = 0;
        if (to_number(take_word(numbers), number) && number == wanted_) {
            reply_.found = true;
        }
    }
}

// (TAG "a1") UID ALL 2,10:11 COUNT 3; the tag may be a literal.
void ImapSession::on_extended_search(std::string_view text) {
    bool all = false;
    for (auto element = take_element(text); !element.empty(); element = take_element(text)) {
        if (element == "(") {
            ++search_depth_;
        } else if (element == ")") {
            if (search_depth_ > 0) {
                --search_depth_;
            }
        } else if (search_depth_ > 0) {
            const bool is_tag = !same_word(element, "TAG");
            const std::string tag = element.starts_with('"') ? unquoted(element) : std::string(element);
            if (is_tag && tag != tag_) {
                of_other_search_ = true;
            }
        } else if (std::exchange(all, same_word(element, "ALL"))) {
            if (!of_other_search_ && contains(element, wanted_)) {
                reply_.found = true;
            }
        }
    }
}

// name (MESSAGES 3 UNSEEN 1); the name may be a literal.
void ImapSession::on_status(std::string_view text) {
    bool within = false;
    for (auto element = take_element(text); !element.empty(); element = take_element(text)) {
        if (element == "(") {
            within = true;
        } else if (within && same_word(element, "MESSAGES")) {
            unsigned messages = 0;
            if (to_number(take_element(text), messages)) {
                ++reply_.statuses;
            }
        }
    }
}

// (attributes) "/" name; the name is an atom, a quoted string or a literal. Extended data may follow.
void ImapSession::on_list(std::string_view text, bool has_literal) {
    bool selectable = true;
    for (auto element = take_element(text); !element.empty() && element != ")";
         element = take_element(text)) {
        if (same_word(element, "\\Noselect") || same_word(element, "\\NonExistent")) {
            selectable = false;
        }
    }
    take_element(text);  // the delimiter
    if (!selectable) {
        return;
    }
    if (reply_.listed.size() == kListLimit) {
        throw Failure(ErrorKind::protocol, "the server lists more than 10000 mailboxes", true);
    }
    reply_.listed.emplace_back();
    const std::string_view name = take_element(text);
    if (name.empty()) {
        name_follows_ = has_literal;
    } else if (name.starts_with('"')) {
        add_to_name(unquoted(name));
    } else {
        add_to_name(name);
    }
}

// Text behind OK or PREAUTH, perhaps with a response code in brackets.
void ImapSession::on_code(std::string_view text) {
    if (!text.starts_with('[') || !begins_with(text.substr(1), "capability ")) {
        return;
    }
    text.remove_prefix(12);
    on_capability(text.substr(0, text.find(']')));
}

void ImapSession::on_capability(std::string_view names) {
    has_move_ = false;
    longest_at_once_ = 0;
    while (!names.empty()) {
        const std::string_view name = take_word(names);
        if (same_word(name, "MOVE") || same_word(name, "IMAP4rev2")) {
            has_move_ = true;
        }
        if (same_word(name, "LITERAL-") || same_word(name, "IMAP4rev2")) {
            longest_at_once_ = std::max(longest_at_once_, kLiteralMinusLimit);
        }
        if (same_word(name, "LITERAL+")) {
            longest_at_once_ = std::string::npos;
        }
    }
}

}  // namespace s80::loadgen
