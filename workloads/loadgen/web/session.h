// SPDX-License-Identifier: GPL-2.0-or-later
// One HTTP connection, over TLS or plain, that is kept for many requests (RFC 9112): asks for a resource and
// checks what comes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "connection.h"
#include "task.h"
#include "web/body.h"

namespace s80::loadgen {

class HttpSession final : public Connection {
public:
    /// Connects, without TLS where `tls` is null.
    HttpSession(Network& network, const Endpoint& server, const TlsContext* tls);

    /// Asks for a path. Throws Failure unless the reply is 200 and `expected`, byte for byte. `last`: the
    /// server is to close the connection afterwards.
    Task get(std::string path, Body expected, bool last);
    /// Asks for a small text.
    Task read(std::string path);
    const std::string& text() const { return text_; }

    /// Whether the server has said that it will close the connection.
    bool closing() const { return closing_; }

private:
    enum class State { status, header, body };

    Task request(std::string path, bool last);
    std::size_t consume(std::string_view bytes) override;
    void on_line(std::string_view line);
    void on_header(std::string_view line);
    void on_headers_end();
    void on_body(std::string_view part);

    std::string host_;
    std::string path_;
    State state_ = State::status;
    std::optional<Body> expected_;
    std::string status_;
    std::string text_;
    std::optional<std::size_t> length_;  // of the body, as announced
    std::size_t left_ = 0;               // of it
    bool closing_ = false;
};

}  // namespace s80::loadgen
