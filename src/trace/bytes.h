// SPDX-License-Identifier: GPL-2.0-or-later
// Writes and reads little-endian numbers, numbers of variable length (LEB128) and texts in a sequence of
// bytes. Reading never goes beyond the end of the sequence.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace s80::trace {

using Bytes = std::vector<std::uint8_t>;

/// An error in the contents of a block. BlockFile::fail adds the file, the offset and the epoch to the
/// message.
struct Malformed : model::Error {
    using model::Error::Error;
};

template <class T>
void put(Bytes& out, T value) {
    const std::size_t at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(&out[at], &value, sizeof value);
}

inline void put_varint(Bytes& out, std::uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<std::uint8_t>(value));
}

inline void put_text(Bytes& out, const std::string& text) {
    put(out, static_cast<std::uint32_t>(text.size()));
    out.insert(out.end(), text.begin(), text.end());
}

/// Takes values from the front of a sequence of bytes. Throws Malformed if the sequence ends too early.
class Cursor {
public:
    Cursor() = default;
    explicit Cursor(std::span<const std::uint8_t> bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    const std::uint8_t* position() const { return at_; }
    const std::uint8_t* end() const { return end_; }

    template <class T>
    T take() {
        T value;
        std::memcpy(&value, take_bytes(sizeof value), sizeof value);
        return value;
    }

    std::uint64_t take_varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = take<std::uint8_t>();
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        throw Malformed("a number has more than 64 bits");
    }

    std::string take_text() {
        const auto size = take<std::uint32_t>();
        const std::uint8_t* const text = take_bytes(size);
        return {text, text + size};
    }

    const std::uint8_t* take_bytes(std::size_t n) {
        if (left() < n) {
            throw Malformed("a value extends beyond the end of its block");
        }
        const std::uint8_t* const here = at_;
        at_ += n;
        return here;
    }

private:
    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
};

}  // namespace s80::trace
