// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of a program's memory allocator: which address, how many bytes, and for which caller
// (docs/reference/interfaces/mappings.md). The functions are known by the physical addresses of their code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace s80::plugin {

class Allocations {
public:
    /// Which argument of a call is the number of bytes. product: the first times the second. third: the third
    /// one, and the function stores the address of the object where its first argument points.
    enum class Size : std::uint8_t { first, second, product, third };
    struct Object {
        std::uint64_t begin = 0;
        std::uint64_t size = 0;
        std::uint64_t caller = 0;  ///< the address after the call
        bool operator==(const Object&) const = default;
    };
    /// The registers of a call at the function's first instruction.
    struct Call {
        std::uint64_t table = 0;  ///< top page table
        std::uint64_t stack = 0;  ///< stack pointer after the return
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        std::uint64_t caller = 0;
    };
    /// The registers at the instruction after a call.
    struct Return {
        std::uint64_t table = 0;
        std::uint64_t stack = 0;
        std::uint64_t result = 0;
    };

    /// Reads the list of functions, a line each: `BEGIN first|second|product|third`, with the physical
    /// address in hexadecimal. An empty path: no functions. Throws model::Error that names the line.
    explicit Allocations(const std::string& path);

    /// The function that begins at a physical address.
    std::optional<Size> entry_at(std::uint64_t physical) const {
        const auto it = functions_.find(physical);
        return it == functions_.end() ? std::nullopt : std::optional(it->second);
    }
    /// Whether a call may return to a physical address. An allocator may end with a jump to another function,
    /// so the place of its `ret` is not known. Code after a call is translated when the call returns.
    bool returns_to(std::uint64_t physical) const { return returns_.contains(physical); }

    /// A call of an allocator begins. `physical`: address of the caller's code, if it is mapped.
    void entered(Size size, const Call& call, std::optional<std::uint64_t> physical);
    /// A call returns: the new object. Nothing if the allocator failed, if the call began before the
    /// recording, or if the same caller had an object of the same size at this address before. `word`: reads
    /// the process's memory.
    std::optional<Object> returned(const Return& call,
                                   const std::function<std::uint64_t(std::uint64_t)>& word);

private:
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // page table, and stack pointer or address
    struct Hash {
        std::size_t operator()(const Place& place) const {
            constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;
            return static_cast<std::size_t>((place.first ^ place.second) * kSpread);
        }
    };
    struct Pending {
        Object object;
        std::uint64_t stored = 0;  ///< where the function stores the address; 0: it returns the address
    };
    std::unordered_map<std::uint64_t, Size> functions_;
    std::unordered_set<std::uint64_t> returns_;
    std::unordered_map<Place, Pending, Hash> pending_;  ///< calls that have not returned, by stack pointer
    std::unordered_map<Place, Object, Hash> last_;      ///< the last object at each address
};

}  // namespace s80::plugin
