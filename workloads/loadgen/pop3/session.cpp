// SPDX-License-Identifier: GPL-2.0-or-later
#include "pop3/session.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "lines.h"

namespace s80::loadgen {

namespace {

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    return true;
}

}  // namespace

Task Pop3Session::connect(const Endpoint& server, const TlsContext* tls) {
    open(server, tls);
    reply_ = Reply::status;
    co_await answer();  // the greeting
}

Task Pop3Session::give_user(const std::string& user) {
    return command("USER " + user);
}

Task Pop3Session::give_password(std::string_view password) {
    return command("PASS " + std::string(password));
}

Task Pop3Session::log_in(const Endpoint& server, const TlsContext& tls, std::string user,
                         std::string_view password) {
    co_await connect(server, &tls);
    co_await give_user(user);
    co_await give_password(password);
    co_await count();
}

Task Pop3Session::count() {
    co_await command("STAT");
    std::string_view text = std::string_view(status_).substr(std::min<std::size_t>(4, status_.size()));
    if (!take_number(text, messages_) || !take_number(text, octets_)) {
        throw Failure(ErrorKind::protocol, "STAT was answered with " + status_);
    }
}

Task Pop3Session::list() {
    sizes_.clear();
    co_await command("LIST", Reply::listing);
    const std::uint64_t sum = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
    if (sizes_.size() != messages_ || sum != octets_) {
        throw Failure(ErrorKind::missing, "LIST shows " + std::to_string(sizes_.size()) + " messages of " +
                                              std::to_string(sum) + " bytes, STAT " +
                                              std::to_string(messages_) + " of " + std::to_string(octets_));
    }
}

Task Pop3Session::name_all() {
    named_ = 0;
    co_await command("UIDL", Reply::names);
    if (named_ != messages_) {
        throw Failure(ErrorKind::missing, "UIDL names " + std::to_string(named_) + " of " +
                                              std::to_string(messages_) + " messages");
    }
}

Task Pop3Session::retrieve(unsigned message) {
    retrieved_ = 0;
    co_await command("RETR " + std::to_string(message), Reply::message);
    if (retrieved_ != sizes_.at(message - 1)) {
        throw Failure(ErrorKind::missing, "RETR " + std::to_string(message) + " brought " +
                                              std::to_string(retrieved_) + " bytes, LIST promised " +
                                              std::to_string(sizes_.at(message - 1)));
    }
}

Task Pop3Session::remove(unsigned message) {
    return command("DELE " + std::to_string(message));
}

Task Pop3Session::quit() {
    co_await command("QUIT");
    close();
}

Task Pop3Session::command(std::string text, Reply reply) {
    reply_ = reply;
    within_ = false;
    line_ = text + "\r\n";
    if (text.starts_with("PASS")) {
        text = "PASS";
    }
    send(line_, text);
    co_await answer();
    if (!status_.starts_with("+OK")) {
        throw Failure(ErrorKind::protocol, "the server refused " + text + ": " + status_);
    }
}

std::size_t Pop3Session::consume(std::string_view bytes) {
    std::size_t at = 0;
    while (const auto line = take_line(bytes, at)) {
        on_line(*line);
    }
    return at;
}

void Pop3Session::on_line(std::string_view line) {
    if (!within_) {
        on_status(line);
    } else if (line == ".") {
        complete();
    } else if (reply_ == Reply::message) {
        retrieved_ += line.size() + 2 - (line.starts_with('.') ? 1 : 0);
    } else {
        on_listed(line);
    }
}

void Pop3Session::on_status(std::string_view line) {
    const bool good = line.starts_with("+OK");
    if (!good && !line.starts_with("-ERR")) {
        throw Failure(ErrorKind::protocol, "not a POP3 reply: " + std::string(line.substr(0, 80)), true);
    }
    status_ = line;
    within_ = good && reply_ != Reply::status;
    if (!within_) {
        complete();
    }
}

// number size, or number name
void Pop3Session::on_listed(std::string_view line) {
    std::string_view rest = line;
    unsigned number = 0;
    std::uint64_t size = 0;
    const std::size_t before = reply_ == Reply::listing ? sizes_.size() : named_;
    const bool good = take_number(rest, number) && number == before + 1 && number <= messages_ &&
                      (reply_ == Reply::names ? !rest.empty() : take_number(rest, size));
    if (!good) {
        throw Failure(ErrorKind::protocol,
                      "not a line for message " + std::to_string(before + 1) + " of " +
                          std::to_string(messages_) + ": " + std::string(line.substr(0, 80)),
                      true);
    }
    if (reply_ == Reply::listing) {
        sizes_.push_back(size);
    } else {
        ++named_;
    }
}

}  // namespace s80::loadgen
