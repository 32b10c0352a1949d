// SPDX-License-Identifier: GPL-2.0-or-later
#include "route/session.h"

namespace s80::loadgen {

namespace {

constexpr std::string_view kWhat = "a message";

/// One for all sessions.
const route::Content& content() {
    static const route::Content one;
    return one;
}

}  // namespace

RouteSession::RouteSession(Network& network, const Endpoint& sink) : Connection(network) {
    open(sink, nullptr);
}

Task RouteSession::exchange(std::uint64_t number, std::size_t size, std::size_t reply_size) {
    const std::size_t behind = size - route::kHeaderBytes;
    header_.reset();
    expected_ = content().of(number + 1, reply_size - route::kHeaderBytes);
    same_ = true;
    message_.clear();
    route::put_header(message_, route::MessageHeader{static_cast<std::uint32_t>(size),
                                                     static_cast<std::uint32_t>(reply_size), number});
    message_ += content().of(number, behind);
    send(message_, kWhat);
    co_await answer();
    if (header_->wrong != 0 || header_->sum != content().sum(number, behind)) {
        throw Failure(ErrorKind::missing, "a message did not arrive as it was sent: " +
                                              std::to_string(header_->wrong) + " of its bytes are wrong");
    }
    if (!same_) {
        throw Failure(ErrorKind::missing, "the message that came back is not what it must be");
    }
}

std::size_t RouteSession::consume(std::string_view bytes) {
    std::string_view rest = bytes;
    if (!header_) {
        if (bytes.size() < route::kHeaderBytes) {
            return 0;
        }
        on_header(route::read_header<route::ReplyHeader>(bytes));
        rest.remove_prefix(route::kHeaderBytes);
    }
    if (rest.size() > expected_.size()) {
        throw Failure(ErrorKind::protocol, "more came than the reply to a message has", true);
    }
    same_ = same_ && expected_.starts_with(rest);
    expected_.remove_prefix(rest.size());
    if (expected_.empty()) {
        complete();
    }
    return bytes.size();
}

void RouteSession::on_header(const route::ReplyHeader& header) {
    const std::size_t size = route::kHeaderBytes + expected_.size();
    if (header.size != size) {
        throw Failure(
            ErrorKind::protocol,
            "a reply of " + std::to_string(header.size) + " bytes instead of " + std::to_string(size), true);
    }
    header_ = header;
}

}  // namespace s80::loadgen
