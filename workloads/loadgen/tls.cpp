// SPDX-License-Identifier: GPL-2.0-or-later
// The TLS side of a stream. TLS_AES_128_GCM_SHA256 comes first: with AES-NI and PCLMULQDQ, which
// the guest's CPU model has, it needs the fewest instructions for a byte of all TLS 1.3 suites (10
// rounds instead of 14, and no ChaCha20 arithmetic); the server follows the client's order.
#include <openssl/err.h>

#include <cerrno>
#include <cstring>

#include "failure.h"
#include "stream.h"

namespace s80::loadgen {

namespace {

constexpr const char* kSuites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
// One key share of 32 bytes, as OpenSSL 3.0 sends by itself; 3.5 adds a post-quantum one of a kilobyte.
constexpr const char* kGroups = "X25519:P-256";

std::string last_error() {
    const unsigned long code = ERR_get_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "the connection ended" : reason;
}

}  // namespace

TlsContext::TlsContext(bool verify) {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    context_ = SSL_CTX_new(TLS_client_method());
    if (context_ == nullptr || SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context_, kSuites) != 1 ||
        SSL_CTX_set1_groups_list(context_, kGroups) != 1) {
        throw Fatal("OpenSSL cannot be set up for TLS 1.3: " + last_error());
    }
    SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context_, 1);
    SSL_CTX_set_options(context_, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context_, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (verify) {
        SSL_CTX_set_default_verify_paths(context_);
    }
}

SSL* TlsContext::connection(int fd) const {
    SSL* ssl = SSL_new(context_);
    if (ssl == nullptr || SSL_set_fd(ssl, fd) != 1) {
        throw Fatal("OpenSSL: " + last_error());
    }
    return ssl;
}

bool Stream::must_wait(int result) {
    const int saved = errno;
    switch (SSL_get_error(ssl_, result)) {
        case SSL_ERROR_WANT_READ: return true;
        case SSL_ERROR_WANT_WRITE: wants_write_ = true; return true;
        case SSL_ERROR_ZERO_RETURN: lost("the server closed the connection");
        case SSL_ERROR_SYSCALL: lost(saved == 0 ? "the connection ended" : std::strerror(saved));
        default: lost("TLS: " + last_error());
    }
}

}  // namespace s80::loadgen
