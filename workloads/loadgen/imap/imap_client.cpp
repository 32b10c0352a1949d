// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/imap_client.h"

#include <algorithm>
#include <utility>

namespace s80::loadgen {

namespace {

constexpr std::size_t kShortestSearchWord = 4;

/// The longest word of the Subject line that can be searched for as it stands; empty without one.
std::string searchable_word(std::string_view header) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    constexpr std::string_view kField = "\nSubject: ";
    std::size_t begin = header.starts_with(kField.substr(1)) ? kField.size() - 1 : header.find(kField);
    if (begin == std::string_view::npos) {
        return {};
    }
    if (begin != kField.size() - 1) {
        begin += kField.size();
    }
    std::string_view line = header.substr(begin, header.find('\r', begin) - begin);
    if (line.find("=?") != std::string_view::npos) {
        return {};  // encoded words
    }
    std::string_view longest;
    while (!line.empty()) {
        const std::size_t length = std::min(line.find_first_not_of(kLetters), line.size());
        if (length > longest.size()) {
            longest = line.substr(0, length);
        }
        line.remove_prefix(std::min(std::max<std::size_t>(length, 1), line.size()));
    }
    return longest.size() < kShortestSearchWord ? std::string() : std::string(longest);
}

}  // namespace

void ImapClient::take_up_job() {
    if (world.job.move == MoveMode::move && !imap.has_move()) {
        throw Fatal("job: move=move is not allowed: the server does not announce MOVE");
    }
    world.move = world.job.move != MoveMode::copy && imap.has_move() ? "MOVE" : "COPY+STORE+EXPUNGE";
}

Task ImapClient::log_in() {
    co_await imap.log_in(world.servers.of(imap_protocol), world.tls, Accounts::user(account),
                         Accounts::kPassword);
    co_await imap.command("LIST \"\" \"*\"");
    mailboxes.assign(imap.reply().listed);
    if (mailboxes.size() == 0) {
        throw Failure(ErrorKind::missing, "LIST shows no mailbox", true);
    }
    co_await select(random.below(mailboxes.size()));
    if (imap.messages() > 0) {
        const unsigned message = random_message();
        imap.want(message);
        co_await imap.command("FETCH " + std::to_string(message) + " BODY.PEEK[HEADER]");
        learn_subject(message, imap.reply().captured);
    }
    note_messages();
}

Task ImapClient::select(std::size_t mailbox) {
    imap.remembered = 0;
    co_await imap.command("SELECT " + quoted(mailboxes[mailbox].name));
    mailboxes.select(mailbox);
}

void ImapClient::note_messages() {
    mailboxes.selected().messages = imap.messages();
    if (mailboxes.selected().inbox()) {
        world.accounts.inbox(account) = imap.messages();
    }
}

void ImapClient::learn_subject(unsigned message, std::string_view header) {
    std::string word = searchable_word(header);
    imap.remembered = word.empty() ? 0 : message;
    if (!word.empty()) {
        subject_word = std::move(word);
    }
}

}  // namespace s80::loadgen
