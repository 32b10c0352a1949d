// SPDX-License-Identifier: GPL-2.0-or-later
// A number that goes through pipes; whoever has it adds the sum of a walk through memory of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "blocks.hpp"

namespace s80::probe {

class Pipe {
public:
    Pipe();
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    void put(std::uint64_t token);
    /// Whether there was one: not once the writing end is closed.
    bool take(std::uint64_t& token);
    void close_reading() { close_end(0); }
    void close_writing() { close_end(1); }

private:
    void close_end(std::size_t end);

    std::array<int, 2> ends_{-1, -1};
};

/// This process and a child of it, each with a block of its own; on one processor each handing over is a
/// switch.
class Pair {
public:
    explicit Pair(Shape shape);
    /// The child ends with its pipe.
    ~Pair() = default;
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    /// The token after so many walks (an even number), by turns of both processes.
    std::uint64_t pass(std::size_t walks);
    /// The same by this process alone, which hands the token to itself.
    std::uint64_t keep(std::size_t walks);

private:
    WalkBlock block_;
    Pipe there_;
    Pipe back_;
    Pipe own_;
};

}  // namespace s80::probe
