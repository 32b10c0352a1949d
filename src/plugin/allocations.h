// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of a program's memory allocator: the address and size of each object, and the code that asked for it
// (docs/reference/interfaces/mappings.md). Allocator functions are recognised by the physical addresses of
// their code.
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
    /// Which argument of an allocator function is the number of bytes. `first`, `second`: that argument.
    /// `product`: the first times the second, as in calloc. `third`: the third, as in posix_memalign, which
    /// stores the object's address where its first argument points.
    enum class Size : std::uint8_t { first, second, product, third };
    struct Object {
        std::uint64_t begin = 0;
        std::uint64_t size = 0;
        std::uint64_t caller = 0;  ///< return address of the call: the instruction after it
        bool operator==(const Object&) const = default;
    };
    /// Registers at the first instruction of an allocator function.
    struct Call {
        /// Physical address of the top page table (CR3), which identifies the process.
        std::uint64_t table = 0;
        std::uint64_t stack = 0;  ///< value that the stack pointer will have after the return
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        std::uint64_t caller = 0;
    };
    /// Registers at the instruction to which an allocator function returns.
    struct Return {
        std::uint64_t table = 0;
        std::uint64_t stack = 0;
        std::uint64_t result = 0;
    };

    /// Reads the list of allocator functions. Each line is `BEGIN first|second|product|third`; BEGIN is the
    /// physical address in hexadecimal. An empty path means no functions. Throws model::Error that names the
    /// line.
    explicit Allocations(const std::string& path);

    /// Whether an allocator function begins at this physical address, and where its size argument is.
    std::optional<Size> entry_at(std::uint64_t physical) const {
        const auto it = functions_.find(physical);
        return it == functions_.end() ? std::nullopt : std::optional(it->second);
    }
    /// Whether an allocator function has been called from the code before this physical address, so that it
    /// may return here. The place of its `ret` is not known, because it may end with a jump to another
    /// function. Ask when a block is translated: QEMU translates the code after a call when the call returns.
    bool returns_to(std::uint64_t physical) const { return returns_.contains(physical); }

    /// An allocator function is called. `physical`: physical address of call.caller; nothing if it is not
    /// mapped.
    void entered(Size size, const Call& call, std::optional<std::uint64_t> physical);
    /// An allocator function returns. Returns the new object. Returns nothing if the allocator failed, if its
    /// call was not seen, or if the same caller already had an object of this size at this address. `word`:
    /// reads 8 bytes at a virtual address of the process.
    std::optional<Object> returned(const Return& call,
                                   const std::function<std::uint64_t(std::uint64_t)>& word);

private:
    // Top page table of the process, and a stack pointer or virtual address in it.
    using Place = std::pair<std::uint64_t, std::uint64_t>;
    struct Hash {
        std::size_t operator()(const Place& place) const {
            constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;
            return static_cast<std::size_t>((place.first ^ place.second) * kSpread);
        }
    };
    struct Pending {
        Object object;
        /// Address at which the function stores the object's address; 0: it returns the object's address.
        std::uint64_t stored = 0;
    };
    std::unordered_map<std::uint64_t, Size> functions_;
    std::unordered_set<std::uint64_t> returns_;
    /// Calls that have not returned, by process and stack pointer.
    std::unordered_map<Place, Pending, Hash> pending_;
    /// Last object at each address, by process and address.
    std::unordered_map<Place, Object, Hash> last_;
};

}  // namespace s80::plugin
