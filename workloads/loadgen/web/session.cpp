// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/session.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "lines.h"

namespace s80::loadgen {

namespace {

constexpr std::size_t kTextLimit = 4096;

bool same_word(std::string_view one, std::string_view other) {
    return one.size() == other.size() && strncasecmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace

HttpSession::HttpSession(Network& network, const Endpoint& server, const TlsContext* tls)
    : Connection(network), host_(server.text) {
    open(server, tls);
}

Task HttpSession::get(std::string path, Body expected, bool last) {
    expected_ = std::move(expected);
    co_await request(std::move(path), last);
}

Task HttpSession::read(std::string path) {
    expected_.reset();
    co_await request(std::move(path), false);
}

Task HttpSession::request(std::string path, bool last) {
    path_ = "GET " + path;
    state_ = State::status;
    text_.clear();
    length_.reset();
    send(path_ + " HTTP/1.1\r\nHost: " + host_ + (last ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n"),
         path_);
    co_await answer();
}

std::size_t HttpSession::consume(std::string_view bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (state_ == State::body) {
            const std::size_t part = std::min(left_, bytes.size() - at);
            if (part == 0) {
                throw Failure(ErrorKind::protocol, "more than was announced came for " + path_, true);
            }
            on_body(bytes.substr(at, part));
            at += part;
            continue;
        }
        const auto line = take_line(bytes, at);
        if (!line) {
            break;
        }
        on_line(*line);
    }
    return at;
}

void HttpSession::on_line(std::string_view line) {
    if (state_ == State::status) {
        if (!line.starts_with("HTTP/1.1 ")) {
            throw Failure(ErrorKind::protocol, "not an HTTP reply: " + std::string(line.substr(0, 80)), true);
        }
        status_ = line.substr(9);
        state_ = State::header;
    } else if (!line.empty()) {
        on_header(line);
    } else {
        on_headers_end();
    }
}

void HttpSession::on_header(std::string_view line) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    if (same_word(name, "Content-Length")) {
        std::size_t length = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
        if (error == std::errc() && end == value.data() + value.size()) {
            length_ = length;
        }
    } else if (same_word(name, "Connection")) {
        closing_ = same_word(value, "close");
    }
}

void HttpSession::on_headers_end() {
    if (!status_.starts_with("200 ")) {
        throw Failure(ErrorKind::protocol, "the server answered " + path_ + " with " + status_);
    }
    if (!length_) {
        throw Failure(ErrorKind::protocol, "no Content-Length in the reply to " + path_, true);
    }
    if (expected_ && *length_ != expected_->size()) {
        throw Failure(ErrorKind::missing, path_ + " has " + std::to_string(*length_) + " bytes and not " +
                                              std::to_string(expected_->size()));
    }
    left_ = *length_;
    state_ = State::body;
    if (left_ == 0) {
        complete();
    }
}

void HttpSession::on_body(std::string_view part) {
    if (!expected_) {
        text_.append(part.substr(0, kTextLimit - std::min(kTextLimit, text_.size())));
    } else if (!expected_->goes_on_with(part)) {
        throw Failure(ErrorKind::missing, path_ + " is not what it must be");
    }
    took_body(part.size());
    left_ -= part.size();
    if (left_ == 0) {
        complete();
    }
}

}  // namespace s80::loadgen
