// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace s80::loadgen {
namespace {

/// A server that its kernel answers connects for, and that never says anything itself.
class SilentServer {
public:
    SilentServer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(fd_, 1), 0);
        EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
    }
    ~SilentServer() { ::close(fd_); }
    Endpoint endpoint() const { return parse_endpoint("127.0.0.1:" + std::to_string(port_)); }

private:
    int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned port_ = 0;
};

void await_connect(const Stream& stream) {
    pollfd connect{stream.fd(), POLLOUT, 0};
    ASSERT_EQ(poll(&connect, 1, -1), 1);
}

TEST(Stream, WaitsForTheServerDuringTheHandshakeAlthoughARequestIsDue) {
    const SilentServer server;
    const TlsContext tls(false);
    Stream stream;
    stream.open(server.endpoint(), &tls);
    EXPECT_TRUE(stream.wants_to_write()) << "a connect ends when the socket can be written to";
    stream.write("GET / HTTP/1.1\r\n\r\n");
    await_connect(stream);
    EXPECT_FALSE(stream.advance()) << "the server has said nothing";
    EXPECT_FALSE(stream.wants_to_write()) << "the socket takes more at any time: the loop would spin";
}

TEST(Stream, SendsWhatWasDueOnceItIsConnected) {
    const SilentServer server;
    Stream stream;
    stream.open(server.endpoint(), nullptr);
    stream.write("GET / HTTP/1.1\r\n\r\n");
    await_connect(stream);
    ASSERT_TRUE(stream.advance());
    EXPECT_TRUE(stream.wants_to_write());
    stream.flush();
    EXPECT_FALSE(stream.wants_to_write());
}

}  // namespace
}  // namespace s80::loadgen
