// SPDX-License-Identifier: GPL-2.0-or-later
// TLS 1.3 on a blocking socket, in the session's own process.
#pragma once

#include <openssl/ssl.h>

#include <string>

#include "byte_stream.h"

namespace s80::uw {

/// Certificate, key and settings that all connections share.
class TlsContext {
public:
    /// Throws std::runtime_error with one sentence if the certificate or the key (PEM files) cannot be used.
    TlsContext(const std::string& certificate, const std::string& key);
    ~TlsContext() { SSL_CTX_free(context_); }
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    SSL_CTX* get() const { return context_; }

private:
    SSL_CTX* context_;
};

class TlsStream final : public ByteStream {
public:
    /// Performs the handshake on a connected socket, which the caller still owns. Throws Gone.
    TlsStream(const TlsContext& context, int socket);
    ~TlsStream() override;

    std::size_t read(std::span<char> into) override;
    void write(std::string_view bytes) override;
    void flush() override;

private:
    void wait_for_client() const;

    int socket_;
    SSL* ssl_;
    std::string collected_;
};

}  // namespace s80::uw
