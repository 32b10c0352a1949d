// SPDX-License-Identifier: GPL-2.0-or-later
#include "tls_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "signals.h"

namespace s80::uw {

namespace {

constexpr time_t kSilenceS = 30 * 60;  // the least that RFC 3501 allows (5.4)
constexpr time_t kStuckS = 60;         // in the middle of a record
constexpr std::size_t kRecord = 16 * 1024;

std::string last_error() {
    const char* reason = ERR_reason_error_string(ERR_get_error());
    return reason == nullptr ? "unknown error" : reason;
}

}  // namespace

TlsContext::TlsContext(const std::string& certificate, const std::string& key) {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    context_ = SSL_CTX_new(TLS_server_method());
    if (context_ == nullptr || SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) != 1) {
        throw std::runtime_error("OpenSSL cannot be set up for TLS 1.3: " + last_error());
    }
    if (SSL_CTX_use_certificate_chain_file(context_, certificate.c_str()) != 1) {
        throw std::runtime_error(certificate + " is not a certificate: " + last_error());
    }
    if (SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        throw std::runtime_error(key + " is not the key of " + certificate + ": " + last_error());
    }
    // A session is never resumed: each is a process of its own.
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context_, 0);
    SSL_CTX_set_options(context_, SSL_OP_IGNORE_UNEXPECTED_EOF);
}

TlsStream::TlsStream(const TlsContext& context, int socket) : socket_(socket), ssl_(SSL_new(context.get())) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const timeval stuck = {kStuckS, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &stuck, sizeof stuck);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &stuck, sizeof stuck);
    try {
        wait_for_client();
        if (ssl_ == nullptr || SSL_set_fd(ssl_, socket) != 1 || SSL_accept(ssl_) != 1) {
            throw Gone("no TLS handshake");
        }
    } catch (...) {
        SSL_free(ssl_);
        throw;
    }
}

TlsStream::~TlsStream() {
    SSL_shutdown(ssl_);
    SSL_free(ssl_);
}

std::size_t TlsStream::read(std::span<char> into) {
    for (;;) {
        if (SSL_pending(ssl_) == 0) {
            wait_for_client();
        }
        ERR_clear_error();
        const int got = SSL_read(ssl_, into.data(), static_cast<int>(into.size()));
        if (got > 0) {
            return static_cast<std::size_t>(got);
        }
        // Woken up by a record without data, or by half of one.
        if (SSL_get_error(ssl_, got) != SSL_ERROR_WANT_READ) {
            throw Gone("the client hung up");
        }
    }
}

void TlsStream::wait_for_client() const {
    pollfd readable = {socket_, POLLIN, 0};
    const timespec silence = {kSilenceS, 0};
    for (;;) {
        const int ready = ppoll(&readable, 1, &silence, &waiting_mask());
        if (const char* why = farewell()) {
            throw Farewell(why);
        }
        if (ready > 0) {
            return;
        }
        if (ready == 0) {
            throw Farewell("Silent for too long");
        }
        if (errno != EINTR) {
            throw Gone("the socket is gone");
        }
    }
}

void TlsStream::write(std::string_view bytes) {
    collected_ += bytes;
    if (collected_.size() >= kRecord) {
        flush();
    }
}

void TlsStream::flush() {
    ERR_clear_error();
    // SSL_write cuts it into records and returns when the last is with the kernel.
    if (!collected_.empty() && SSL_write(ssl_, collected_.data(), static_cast<int>(collected_.size())) <= 0) {
        throw Gone("the client hung up");
    }
    collected_.clear();
}

}  // namespace s80::uw
