// SPDX-License-Identifier: GPL-2.0-or-later
// Totally ordered traces (`order` files): the accesses of all processors in one global order, 16 bytes each,
// little-endian. The C++ programs and the Python code (exchange formats, gem5) exchange accesses in this form
// (docs/reference/trace-formats.md).
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/partial_file.h"
#include "base/types.h"
#include "machine/machine.h"

namespace s80::replay {

struct Access {
    std::uint64_t tick = 0;  ///< simulated time in picoseconds
    model::Line line = 0;
    std::uint8_t processor = 0;
    std::uint8_t op = 0;       ///< kind of the access (model::Kind)
    std::uint8_t context = 0;  ///< context of the code (model::Context)
    std::uint8_t zero = 0;

    model::Kind kind() const { return static_cast<model::Kind>(op); }
    model::Context who() const { return model::Context(context); }
};
static_assert(sizeof(Access) == 16 && std::endian::native == std::endian::little);

/// Reads a file. Throws model::Error if the file is truncated, or if an access has an unknown op, a processor
/// that the machine does not have, or a line that is not below `lines`.
std::vector<Access> read_order(const std::string& path, const model::Machine& machine, std::uint64_t lines);

/// The number of lines that a memory needs for these accesses: the highest line plus one.
std::uint64_t lines_of(const std::vector<Access>& order);

/// Writes a totally ordered trace. The file gets its name when it is complete.
class OrderWriter {
public:
    /// Throws model::Error if the file cannot be created.
    explicit OrderWriter(const std::string& path);

    void write(const Access& access);
    /// Completes the file. Throws model::Error.
    void close();

private:
    [[noreturn]] void fail() const;
    model::PartialFile file_;
};

}  // namespace s80::replay
