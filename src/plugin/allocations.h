// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of a program's memory allocator: which address, how many bytes, and for which caller
// (docs/reference/interfaces/mappings.md). The functions are known by the physical addresses of their code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "plugin/qemu_api.h"

namespace s80::plugin {

class Allocations {
public:
    /// Where a call has the number of bytes.
    enum class Size : std::uint8_t { first, second, product };
    struct Object {
        std::uint64_t begin = 0;
        std::uint64_t size = 0;
        std::uint64_t caller = 0;  ///< the address after the call
        bool operator==(const Object&) const = default;
    };
    /// The registers of a call at the function's first instruction, or at its return.
    struct Call {
        std::uint64_t table = 0;  ///< top page table
        std::uint64_t stack = 0;  ///< stack pointer: it is at the return address both times
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        std::uint64_t result = 0;
        std::uint64_t caller = 0;
    };

    /// Reads the list of functions, a line each: `BEGIN END first|second|product`, physical addresses in
    /// hexadecimal. An empty path: no functions. Throws model::Error that names the line.
    explicit Allocations(const std::string& path);

    /// Called for each instruction that QEMU translates. `returns`: whether it returns from a function.
    void translated(qemu_plugin_insn* insn, std::uint64_t physical, bool returns);
    void entered(Size size, const Call& call);
    /// The new object; nothing if the allocator failed, if the call began before the recording, or if the
    /// same caller had an object of the same size there before.
    std::optional<Object> returned(const Call& call);

private:
    struct Function {
        std::uint64_t end = 0;
        Size size = Size::first;
    };
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // page table, and stack pointer or address
    struct Hash {
        std::size_t operator()(const Place& place) const {
            constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;
            return static_cast<std::size_t>((place.first ^ place.second) * kSpread);
        }
    };
    std::map<std::uint64_t, Function> functions_;      ///< by their first address
    std::unordered_map<Place, Object, Hash> pending_;  ///< calls that have not returned, by stack pointer
    std::unordered_map<Place, Object, Hash> last_;     ///< the last object at each address
};

}  // namespace s80::plugin
