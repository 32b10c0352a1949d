// SPDX-License-Identifier: GPL-2.0-or-later
// s80-sink: receives messages, checks every byte, and acknowledges each with a reply of the size that the
// message requests. One process serves one connection.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include "forking_server.h"
#include "message.h"

namespace {

using namespace s80;
using namespace s80::route;

std::uint64_t sum_of(std::string_view bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}, [](std::uint64_t sum, char byte) {
        return sum + static_cast<unsigned char>(byte);
    });
}

std::uint32_t differences(std::string_view one, std::string_view other) {
    if (one == other) {
        return 0;
    }
    return static_cast<std::uint32_t>(
        std::inner_product(one.begin(), one.end(), other.begin(), 0, std::plus<>(), std::not_equal_to<>()));
}

bool allowed(std::uint32_t size) {
    return size >= kHeaderBytes && size <= kMostBytes;
}

/// Until the client closes, or says what is no message.
void serve(int socket, const Content& content) {
    std::string received(kMostBytes, '\0');
    std::string reply;
    for (;;) {
        if (read_whole(socket, received.data(), kHeaderBytes) < kHeaderBytes) {
            return;
        }
        const auto message = read_header<MessageHeader>(received);
        if (!allowed(message.size) || !allowed(message.reply_size)) {
            return;
        }
        const std::size_t size = message.size - kHeaderBytes;
        if (read_whole(socket, received.data(), size) < size) {
            return;
        }
        const std::string_view came(received.data(), size);
        reply.clear();
        put_header(reply, ReplyHeader{message.reply_size, differences(came, content.of(message.number, size)),
                                      sum_of(came)});
        reply += content.of(message.number + 1, message.reply_size - kHeaderBytes);
        if (!write_whole(socket, reply)) {
            return;
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: s80-sink IPV4:PORT\n", stderr);
        return 2;
    }
    try {
        const Content content;
        serve_forked(argv[1], [&content](int socket) { serve(socket, content); });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-sink: %s\n", error.what());
        return 1;
    }
}
