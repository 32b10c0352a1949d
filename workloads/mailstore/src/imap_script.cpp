// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap_script.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "maildir.h"

namespace s80::mailstore {

namespace {

std::string with_crlf(std::string_view text) {
    std::string out;
    out.reserve(text.size() + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    for (const char byte : text) {
        if (byte == '\n') {
            out.push_back('\r');
        }
        out.push_back(byte);
    }
    return out;
}

}  // namespace

ImapScript::ImapScript(std::string_view user, std::string_view password) {
    command(std::string("LOGIN ").append(user).append(" ").append(password));
}

/// A line break ends the command before, and its last literal.
void ImapScript::command(std::string_view text) {
    if (tag_ > 0) {
        text_.append("\r\n");
    }
    text_.append("a").append(std::to_string(++tag_)).append(" ").append(text);
}

void ImapScript::mailbox(std::string_view name) {
    if (name != "INBOX") {
        command(std::string("CREATE ").append(name));
    }
    command(std::string("APPEND ").append(name));
}

void ImapScript::message(std::string_view mbox_message, const Position& position) {
    const MaildirMessage plain = maildir_message(mbox_message, position);
    const std::string text = with_crlf(plain.text);
    const std::time_t seconds = position.time;
    std::tm fields{};
    gmtime_r(&seconds, &fields);
    std::array<char, 40> date;
    const std::size_t length =
        std::strftime(date.data(), date.size(), "\"%e-%b-%Y %H:%M:%S +0000\"", &fields);
    text_.append(plain.name.ends_with('S') ? " (\\Seen) " : " () ").append(date.data(), length);
    text_.append(" {").append(std::to_string(text.size())).append("+}\r\n").append(text);
}

std::string ImapScript::finish() {
    command("LOGOUT\r\n");
    return std::move(text_);
}

}  // namespace s80::mailstore
