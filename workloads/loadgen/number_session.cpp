// SPDX-License-Identifier: GPL-2.0-or-later
#include "number_session.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace s80::loadgen {

NumberSession::NumberSession(Network& network, const Endpoint& server) : Connection(network) {
    open(server, nullptr);
}

Task NumberSession::ask(std::string request) {
    request_ = std::move(request);
    send(request_ + "\n", request_);
    co_await answer();
    parse();
}

std::size_t NumberSession::consume(std::string_view bytes) {
    const std::size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos) {
        return 0;
    }
    if (newline + 1 < bytes.size()) {
        throw Failure(ErrorKind::protocol, "more than one line came for " + request_, true);
    }
    reply_ = bytes.substr(0, newline);
    complete();
    return bytes.size();
}

void NumberSession::parse() {
    numbers_.clear();
    std::string_view rest = reply_;
    const std::string_view word = std::string_view(request_).substr(0, request_.find(' '));
    bool good = rest.starts_with(word);
    if (good) {
        rest.remove_prefix(word.size());
    }
    while (good && !rest.empty()) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
        good = rest.front() == ' ' && error == std::errc();
        if (!good) {
            break;
        }
        numbers_.push_back(number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    }
    if (!good) {
        throw Failure(ErrorKind::protocol, "the server answered " + request_ + " with " + reply_);
    }
}

}  // namespace s80::loadgen
