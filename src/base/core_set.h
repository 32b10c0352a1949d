// SPDX-License-Identifier: GPL-2.0-or-later
// A set of cores, or of processors.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The programs that play large machines (s80-step, s80-order, s80-replay-wide) are compiled with 256. All
/// others keep a set in one word, because each line of memory and each recorded conflict has one.
#ifndef S80_MAX_CORES
#define S80_MAX_CORES 32
#endif

namespace s80::model {

/// Numbers of cores and processors are below this limit.
inline constexpr unsigned kMaxCores = S80_MAX_CORES;
/// The limit of a program that is compiled without S80_MAX_CORES, and the limit of all programs.
inline constexpr unsigned kNarrowCores = 32;
inline constexpr unsigned kWideCores = 256;

/// The number of a core or processor, or kNobody. As small as possible, because large arrays have such
/// numbers as elements.
using CoreNumber = std::conditional_t<(kMaxCores < 256), std::uint8_t, std::uint16_t>;
inline constexpr CoreNumber kNobody = std::numeric_limits<CoreNumber>::max();

/// A set of cores, or of processors. With up to 32 cores it is one word. `for (const unsigned core : set)`
/// starts with the lowest number. The loop iterates over a copy, so its body may change the set.
class CoreSet {
public:
    /// A set in a file is a sequence of these words, as many as the machine's cores need (words_for).
    using Word = std::uint32_t;
    static constexpr unsigned kWordBits = 32;
    static constexpr unsigned kWords = kMaxCores / kWordBits;
    static_assert(kMaxCores % kWordBits == 0);

    constexpr CoreSet() = default;
    static constexpr CoreSet of_word(Word word, unsigned at = 0) {
        CoreSet set;
        set.words_[at] = word;
        return set;
    }
    static constexpr CoreSet only(unsigned core) {
        CoreSet set;
        set.add(core);
        return set;
    }
    /// The numbers below `count`, which is at least 1.
    static constexpr CoreSet below(unsigned count) {
        CoreSet set;
        for (unsigned i = 0; i < words_for(count); ++i) {
            set.words_[i] = ~Word{0} >> (kWordBits - std::min(count - i * kWordBits, kWordBits));
        }
        return set;
    }
    /// The words that hold the numbers below `count`.
    static constexpr unsigned words_for(unsigned count) { return (count + kWordBits - 1) / kWordBits; }

    constexpr bool has(unsigned core) const { return (word(index(core)) >> core % kWordBits & 1) != 0; }
    constexpr void add(unsigned core) { words_[index(core)] |= bit(core); }
    constexpr void remove(unsigned core) { words_[index(core)] &= ~bit(core); }
    constexpr bool empty() const { return *this == CoreSet(); }
    constexpr CoreSet without(unsigned core) const {
        CoreSet set = *this;
        set.remove(core);
        return set;
    }
    constexpr Word word(unsigned at = 0) const { return words_[at]; }

    friend constexpr CoreSet operator|(CoreSet a, CoreSet b) {
        return combined(a, b, [](Word x, Word y) { return x | y; });
    }
    friend constexpr CoreSet operator&(CoreSet a, CoreSet b) {
        return combined(a, b, [](Word x, Word y) { return x & y; });
    }
    friend constexpr CoreSet operator-(CoreSet a, CoreSet b) {
        return combined(a, b, [](Word x, Word y) { return x & ~y; });
    }
    constexpr bool operator==(const CoreSet&) const = default;

    class Iterator {
    public:
        constexpr explicit Iterator(const std::array<Word, kWords>& words) : left_(words) {}
        constexpr unsigned operator*() const {
            // Not std::countr_zero, which tests for 0.
            return first() * kWordBits + static_cast<unsigned>(__builtin_ctz(left_[first()]));
        }
        constexpr Iterator& operator++() {
            left_[first()] &= left_[first()] - 1;
            return *this;
        }
        constexpr bool operator==(const Iterator&) const = default;

    private:
        /// The first word that is not empty; there is one.
        constexpr unsigned first() const {
            unsigned at = 0;
            while (at + 1 < kWords && left_[at] == 0) {
                ++at;
            }
            return at;
        }
        std::array<Word, kWords> left_;
    };
    constexpr Iterator begin() const { return Iterator(words_); }
    constexpr Iterator end() const { return Iterator({}); }

private:
    static constexpr unsigned index(unsigned core) { return kWords == 1 ? 0 : core / kWordBits; }
    static constexpr Word bit(unsigned core) { return Word{1} << core % kWordBits; }
    template <class Fn>
    static constexpr CoreSet combined(CoreSet a, const CoreSet& b, Fn fn) {
        for (unsigned i = 0; i < kWords; ++i) {
            a.words_[i] = fn(a.words_[i], b.words_[i]);
        }
        return a;
    }
    std::array<Word, kWords> words_{};
};

/// Bits in which a number of a core or processor fits.
inline constexpr unsigned kCoreBits = std::bit_width(kMaxCores - 1);
/// The same in files, where the number of bits depends on the machine.
constexpr unsigned file_core_bits(std::size_t processors) {
    return std::bit_width(processors <= kNarrowCores ? kNarrowCores - 1 : kWideCores - 1);
}

}  // namespace s80::model
