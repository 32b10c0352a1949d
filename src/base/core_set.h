// SPDX-License-Identifier: GPL-2.0-or-later
// A set of cores, or of processors.
#pragma once
#include <bit>
#include <cstdint>

namespace s80::model {

/// Numbers of cores and processors are below this limit.
inline constexpr unsigned kMaxCores = 32;

/// A set of cores, or of processors. It is as cheap as its one word, and iterates from the lowest number on:
/// `for (const unsigned core : set)`. The loop goes over the set as it was when the loop began.
class CoreSet {
public:
    /// A set in a file, and in tables with one set for each line of memory.
    using Word = std::uint32_t;
    static_assert(kMaxCores <= 8 * sizeof(Word));

    constexpr CoreSet() = default;
    static constexpr CoreSet of_word(Word word) { return CoreSet(word); }
    static constexpr CoreSet only(unsigned core) { return CoreSet(Word{1} << core); }
    /// The numbers below `count`, which is at least 1.
    static constexpr CoreSet below(unsigned count) { return CoreSet(~Word{0} >> (kMaxCores - count)); }

    constexpr bool has(unsigned core) const { return (word_ >> core & 1) != 0; }
    constexpr void add(unsigned core) { word_ |= Word{1} << core; }
    constexpr void remove(unsigned core) { word_ &= ~(Word{1} << core); }
    constexpr bool empty() const { return word_ == 0; }
    constexpr CoreSet without(unsigned core) const { return *this - only(core); }
    constexpr Word word() const { return word_; }

    friend constexpr CoreSet operator|(CoreSet a, CoreSet b) { return CoreSet(a.word_ | b.word_); }
    friend constexpr CoreSet operator&(CoreSet a, CoreSet b) { return CoreSet(a.word_ & b.word_); }
    friend constexpr CoreSet operator-(CoreSet a, CoreSet b) { return CoreSet(a.word_ & ~b.word_); }
    constexpr bool operator==(const CoreSet&) const = default;

    class Iterator {
    public:
        constexpr explicit Iterator(Word left) : left_(left) {}
        constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(left_)); }
        constexpr Iterator& operator++() {
            left_ &= left_ - 1;
            return *this;
        }
        constexpr bool operator==(const Iterator&) const = default;

    private:
        Word left_;
    };
    constexpr Iterator begin() const { return Iterator(word_); }
    constexpr Iterator end() const { return Iterator(0); }

private:
    constexpr explicit CoreSet(Word word) : word_(word) {}
    Word word_ = 0;
};

/// Bits in which a number of a core or processor fits.
inline constexpr unsigned kCoreBits = std::bit_width(kMaxCores - 1);

}  // namespace s80::model
