// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/session.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace s80::loadgen {

namespace {

constexpr std::size_t capture_limit = 4096;
constexpr std::size_t name_limit = 4096;
constexpr std::size_t list_limit = 10'000;
constexpr std::size_t list_bytes_limit = 1 << 20;

std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

bool to_number(std::string_view word, unsigned& number) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

Task ImapSession::connect(const Endpoint& server, const TlsContext* tls) {
    open(server, tls);
    co_await answer();  // the greeting
}

Task ImapSession::log_in(const Endpoint& server, const TlsContext& tls, std::string_view user,
                         std::string_view password) {
    co_await connect(server, &tls);
    co_await command("LOGIN " + std::string(user) + " " + std::string(password));
    co_await command("CAPABILITY");
}

Task ImapSession::command(std::string text) {
    std::string what = text.starts_with("LOGIN") ? "LOGIN" : text;
    return exchange(std::move(text), std::move(what));
}

Task ImapSession::append(const std::string& mailbox, const std::string& message) {
    return exchange("APPEND " + mailbox + " {" + std::to_string(message.size()) + "+}\r\n" + message,
                    "APPEND " + mailbox);
}

Task ImapSession::log_out() {
    leaving_ = true;
    co_await command("LOGOUT");
    close();
}

Task ImapSession::exchange(std::string text, std::string what) {
    tag_ = "a" + std::to_string(++last_tag_);
    line_ = tag_ + " " + text + "\r\n";
    reply_ = {};
    literal_ = Literal::skip;  // of one that a broken server is still sending nothing is wanted any more
    refusal_.clear();
    send(line_, what);
    co_await answer();
    if (!refusal_.empty()) {
        throw Failure(ErrorKind::protocol, "the server refused " + what + ": " + refusal_);
    }
}

void ImapSession::on_text(std::string_view text, bool begins, bool has_literal, std::uint64_t literal) {
    if (!begins) {
        // The rest of a response after a literal. If the announced length was wrong, this is not
        // it.
        if (!has_literal && in_fetch_ && !text.ends_with(')')) {
            throw Failure(ErrorKind::protocol, "a literal does not have the length announced", true);
        }
        if (has_literal) literal_ = Literal::skip;
        if (in_fetch_) on_fetch(text);
    } else if (text.starts_with("* ")) {
        in_fetch_ = false;
        on_untagged(text.substr(2), has_literal, literal);
    } else if (text.starts_with(tag_) && text.substr(tag_.size()).starts_with(' ')) {
        on_tagged(text.substr(tag_.size() + 1));
    } else {
        throw Failure(ErrorKind::protocol, "not an IMAP reply: " + std::string(text.substr(0, 80)), true);
    }
}

void ImapSession::on_literal(std::string_view part) {
    if (literal_ == Literal::capture) {
        reply_.captured.append(
            part.substr(0, capture_limit - std::min(capture_limit, reply_.captured.size())));
    } else if (literal_ == Literal::mailbox) {
        add_to_name(part);
    }
}

void ImapSession::add_to_name(std::string_view part) {
    std::string& name = reply_.listed.back();
    reply_.listed_bytes += part.size();
    if (name.size() + part.size() > name_limit) {
        throw Failure(ErrorKind::protocol, "a mailbox has a name of more than 4 KB", true);
    }
    if (reply_.listed_bytes > list_bytes_limit) {
        throw Failure(ErrorKind::protocol, "the server lists more than 1 MB of names", true);
    }
    name += part;
}

void ImapSession::on_tagged(std::string_view text) {
    if (!text.starts_with("OK")) refusal_ = text;
    complete();
}

void ImapSession::on_untagged(std::string_view text, bool has_literal, std::uint64_t literal) {
    literal_ = Literal::skip;
    std::string_view rest = text;
    const std::string_view word = take_word(rest);
    unsigned number = 0;
    if (to_number(word, number)) {
        on_numbered(number, rest, has_literal, literal);
    } else if (word == "SEARCH") {
        on_search(rest);
    } else if (word == "LIST") {
        on_list(rest, has_literal);
    } else if (word == "CAPABILITY") {
        has_move_ = (" " + std::string(rest) + " ").find(" MOVE ") != std::string::npos;
    } else if (word == "NO" || word == "BAD") {
        refusal_ = text;
    } else if (word == "BYE" && !leaving_) {
        throw Failure(ErrorKind::connection, "the server ended the session: " + std::string(rest));
    } else if (word == "OK" && !std::exchange(greeted_, true)) {
        complete();
    }
}

void ImapSession::on_numbered(unsigned number, std::string_view kind, bool has_literal,
                              std::uint64_t literal) {
    if (kind == "EXISTS") {
        messages_ = number;
    } else if (kind == "EXPUNGE") {
        on_expunge(number);
    } else if (kind.starts_with("FETCH ")) {
        in_fetch_ = true;
        ++reply_.answers;
        on_fetch(kind.substr(kind.find(' ')));
        if (has_literal) {
            ++reply_.fetched;
            reply_.literal += literal;
            literal_ = number == wanted_ ? Literal::capture : Literal::skip;
        }
        if (kind.find("\\Deleted") != std::string_view::npos) ++reply_.deleted_flags;
    }
}

// Items whose values are numbers, wherever in the response they stand.
void ImapSession::on_fetch(std::string_view items) {
    const auto value_of = [items](std::string_view name) {
        std::uint64_t value = 0;
        const std::size_t at = items.find(name);
        if (at != std::string_view::npos) {
            std::from_chars(items.data() + at + name.size(), items.data() + items.size(), value);
        }
        return value;
    };
    reply_.sizes += value_of("RFC822.SIZE ");
    reply_.highest_uid = std::max(reply_.highest_uid, static_cast<unsigned>(value_of("UID ")));
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
    while (!numbers.empty()) {
        unsigned number = 0;
        if (to_number(take_word(numbers), number) && number == wanted_) reply_.found = true;
    }
}

// (attributes) "/" name; the name is an atom, a quoted string or a literal.
void ImapSession::on_list(std::string_view text, bool has_literal) {
    const std::size_t end = std::min(text.find(')'), text.size());
    if (text.substr(0, end).find("\\Noselect") != std::string_view::npos) return;
    text.remove_prefix(end);
    take_word(text);  // the bracket
    take_word(text);  // the delimiter
    if (reply_.listed.size() == list_limit) {
        throw Failure(ErrorKind::protocol, "the server lists more than 10000 mailboxes", true);
    }
    reply_.listed.emplace_back();
    if (has_literal) {
        literal_ = Literal::mailbox;
    } else if (text.starts_with('"') && text.ends_with('"') && text.size() >= 2) {
        text = text.substr(1, text.size() - 2);
        std::string name;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\' && i + 1 < text.size()) ++i;
            name += text[i];
        }
        add_to_name(name);
    } else {
        add_to_name(text);
    }
}

}  // namespace s80::loadgen
