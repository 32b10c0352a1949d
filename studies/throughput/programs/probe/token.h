// SPDX-License-Identifier: GPL-2.0-or-later
// A number (token) that is passed through pipes. Each holder adds the sum of a walk through its own memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "blocks.h"

namespace s80::probe {

class Pipe {
public:
    Pipe();
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    void put(std::uint64_t token);
    /// Whether a token arrived; false when the writing end is closed.
    bool take(std::uint64_t& token);
    void close_reading() { close_end(0); }
    void close_writing() { close_end(1); }

private:
    void close_end(std::size_t end);

    std::array<int, 2> ends_{-1, -1};
};

/// This process and a child process, each with its own block. On one processor every pass is a context
/// switch.
class Pair {
public:
    explicit Pair(Shape shape);
    /// The child ends when its pipe is closed.
    ~Pair() = default;
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    /// The token after this many walks (an even number), in which both processes alternate.
    std::uint64_t pass(std::size_t walks);
    /// The token after this many walks of this process alone, which passes the token to itself.
    std::uint64_t keep(std::size_t walks);

private:
    WalkBlock block_;
    Pipe there_;
    Pipe back_;
    Pipe own_;
};

}  // namespace s80::probe
