// SPDX-License-Identifier: GPL-2.0-or-later
// A non-blocking TCP connection, plain or with TLS 1.3.
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace s80::loadgen {

/// The address on which a server listens.
struct Endpoint {
    sockaddr_in address{};
    std::string text;  // as given, for messages
};

/// Parses "HOST:PORT". HOST must be an IPv4 address (no resolver: the program is linked statically).
Endpoint parse_endpoint(std::string_view text);

/// The settings that all TLS connections share.
class TlsContext {
public:
    /// `verify`: the server's certificate must be signed by an authority that the machine trusts.
    explicit TlsContext(bool verify);
    ~TlsContext() { SSL_CTX_free(context_); }
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    SSL* connection(int fd) const;

private:
    SSL_CTX* context_;
};

class Stream {
public:
    Stream() = default;
    ~Stream() { close(); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Begins to connect. `tls` may be null for a plain connection.
    void open(const Endpoint& to, const TlsContext* tls);
    void close();

    int fd() const { return fd_; }
    bool established() const { return established_; }
    /// Continues the connect and the handshake. Returns true when both are complete.
    bool advance();

    /// Reads bytes and returns their number; 0 if none are available. Throws Failure if the connection is
    /// lost.
    std::size_t read(std::span<char> into);
    /// Sends as much as the socket takes and keeps the rest. Before the connection is established it keeps
    /// everything.
    void write(std::string_view bytes);
    void flush();
    /// Whether the stream can continue as soon as the socket takes more. Data kept before the handshake is
    /// complete do not count: the socket is writable then, and polling for it would never sleep.
    bool wants_to_write() const { return wants_write_ || (established_ && !pending_.empty()); }

private:
    [[noreturn]] void lost(const std::string& what) const;
    /// True if the operation must be repeated later. Throws Failure if the connection is lost.
    bool must_wait(int result);
    std::size_t write_some(std::string_view bytes);

    std::string peer_;
    int fd_ = -1;
    SSL* ssl_ = nullptr;
    bool connected_ = false;
    bool established_ = false;
    bool wants_write_ = false;  // TLS cannot go on before the socket takes more
    std::string pending_;
};

}  // namespace s80::loadgen
