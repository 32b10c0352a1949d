// SPDX-License-Identifier: GPL-2.0-or-later
// A tag array in slices, for last-level caches and directories. A hash of the line's number selects the
// slice; in the slice, its lowest bits select the set. The number of slices need not be a power of two, so
// neither must the size.
#pragma once
#include <cstring>
#include <span>
#include <vector>

#include "base/host_memory.h"
#include "cache/cache.h"
#include "cache/sliced_geometry.h"

namespace s80::model {

class SlicedCache {
public:
    /// `purpose`: what the memory is for, for the error message if the host has too little.
    SlicedCache(const SlicedGeometry& g, unsigned line_bytes, const std::string& purpose)
        : memory_(g.slices * Cache::bytes(g.slice(), line_bytes, g.policy), purpose) {
        std::byte* at = memory_.data();
        slices_.reserve(g.slices);
        for (unsigned slice = 0; slice < g.slices; ++slice) {
            slices_.emplace_back(g.slice(), line_bytes, g.policy, at);
            at += Cache::bytes(g.slice(), line_bytes, g.policy);
        }
    }

    unsigned slices() const { return static_cast<unsigned>(slices_.size()); }
    /// The slice of a line, by Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4): the fraction
    /// of line x 0.618... is evenly spread even if the distances between lines are a power of two. So the
    /// lines of an array use all sets of all slices.
    unsigned slice_of(Line line) const {
        constexpr std::uint64_t kGoldenRatio = 0x9e37'79b9'7f4a'7c15U;
        return static_cast<unsigned>((line * kGoldenRatio >> 32) * slices_.size() >> 32);
    }

    Cache::Slot find(Line line) const { return slice(line).find(line); }
    /// Where to put a line that the array does not hold: an empty way, or the way of the policy's victim.
    Cache::Slot place(Line line) { return slice(line).place(line); }
    /// The line that the slot from place() holds; kNoLine: none.
    Line victim(Line line, Cache::Slot slot) const { return slice(line).line(slot); }
    /// Tells the replacement policy that an access has found the line.
    void touch(Line line, Cache::Slot slot) const { slice(line).touch(slot); }
    /// Puts the line into the slot from place().
    void fill(Line line, Cache::Slot slot) const {
        slice(line).put(slot, line, Block{});
        slice(line).filled(slot);
    }
    void drop(Line line) const { slice(line).drop(line); }
    void host_prefetch(Line line) const { slice(line).host_prefetch_set(line); }

    /// Calls `fn(line)` for each line in the array.
    template <class Fn>
    void each_line(Fn&& fn) const {
        for (const Cache& slice : slices_) {
            slice.each_line(fn);
        }
    }

    /// The whole state as 64-bit words, for a checkpoint.
    std::vector<std::uint64_t> state() const {
        std::vector<std::uint64_t> words;
        for (const Cache& slice : slices_) {
            const auto contents = slice.contents();
            const std::size_t at = words.size();
            words.resize(at + words_of(contents) + 1);
            std::memcpy(&words[at], contents.data(), contents.size());
            words.back() = slice.replacement().common_state();
        }
        return words;
    }
    /// Number of words that state() returns.
    std::size_t state_words() const { return slices_.size() * (words_of(slices_.front().contents()) + 1); }
    /// Restores what state() returned; `words` has state_words() words. Returns false if it contains a line
    /// that is not below `lines`.
    [[nodiscard]] bool set_state(std::span<const std::uint64_t> words, std::size_t lines) {
        for (Cache& slice : slices_) {
            const auto contents = slice.contents();
            std::memcpy(contents.data(), words.data(), contents.size());
            slice.replacement().set_common_state(words[words_of(contents)]);
            words = words.subspan(words_of(contents) + 1);
        }
        bool inside = true;
        each_line([&](Line line) { inside = inside && line < lines; });
        return inside;
    }

private:
    static std::size_t words_of(std::span<const std::byte> contents) {
        return (contents.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    }
    Cache& slice(Line line) { return slices_[slice_of(line)]; }
    const Cache& slice(Line line) const { return slices_[slice_of(line)]; }

    HostMemory memory_;
    std::vector<Cache> slices_;
};

}  // namespace s80::model
