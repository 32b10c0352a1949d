// SPDX-License-Identifier: GPL-2.0-or-later
// The messages between the load generator and the sink behind the router
// (docs/reference/interfaces/own-servers.md).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace s80::route {

static_assert(std::endian::native == std::endian::little, "headers are sent as they lie in memory");

/// Sizes are in bytes and include the headers.
struct MessageHeader {
    std::uint32_t size;
    std::uint32_t reply_size;
    std::uint64_t number;  // from which its content follows; that of the reply follows from the next one
};

struct ReplyHeader {
    std::uint32_t size;
    std::uint32_t wrong;  // bytes of the message's content that are not what they must be
    std::uint64_t sum;    // of the message's content, byte by byte
};

inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kMostBytes = 65536;
static_assert(sizeof(MessageHeader) == kHeaderBytes && sizeof(ReplyHeader) == kHeaderBytes);

template <typename Header>
Header read_header(std::string_view bytes) {
    static_assert(std::is_trivially_copyable_v<Header>);
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
}

/// Appends a header to data to be sent.
template <typename Header>
void put_header(std::string& bytes, const Header& header) {
    static_assert(std::is_trivially_copyable_v<Header>);
    bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
}

/// The contents of messages after their headers: parts of one text.
class Content {
public:
    Content();

    std::string_view of(std::uint64_t number, std::size_t size) const {
        return std::string_view(text_).substr(begin(number), size);
    }
    /// The sum of its bytes, computed without reading them.
    std::uint64_t sum(std::uint64_t number, std::size_t size) const {
        return sums_[begin(number) + size] - sums_[begin(number)];
    }

private:
    static constexpr std::size_t kWindows = 1024;

    static std::size_t begin(std::uint64_t number) { return number % kWindows; }

    std::string text_;
    std::vector<std::uint64_t> sums_;  // of what lies before each byte
};

}  // namespace s80::route
