// SPDX-License-Identifier: GPL-2.0-or-later
// A non-blocking TCP connection, with TLS 1.3 on top or plain.
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace s80::loadgen {

/// Where a server listens.
struct Endpoint {
    sockaddr_in address{};
    std::string text;  // as given, for messages
};

/// Reads "HOST:PORT" with HOST an IPv4 address (no resolver: the program is linked statically).
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

    /// Begins to connect; `tls` may be null for a plain connection.
    void open(const Endpoint& to, const TlsContext* tls);
    void close();

    int fd() const { return fd_; }
    bool established() const { return established_; }
    /// Goes on with the connect and the handshake; true once both are through.
    bool advance();

    /// Bytes read; 0 when there are none now. Throws Failure when the connection is gone.
    std::size_t read(std::span<char> into);
    /// Sends now what the socket takes, keeps the rest; all of it until the connection is established.
    void write(std::string_view bytes);
    void flush();
    /// Whether it can go on as soon as the socket takes more: what is kept for later cannot before the
    /// handshake is through, however much the socket would take, and who asks for that again and again never
    /// sleeps.
    bool wants_to_write() const { return wants_write_ || (established_ && !pending_.empty()); }

private:
    [[noreturn]] void lost(const std::string& what) const;
    /// True when the operation has to be repeated later; throws when the connection is gone.
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
