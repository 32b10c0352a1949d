// SPDX-License-Identifier: GPL-2.0-or-later
// Sets of cores or of processors, and the largest number of them.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The programs for large machines (s80-step, s80-order, s80-replay-wide) are compiled with 256. In all
/// others a set is one word, because there is a set for each line of memory and for each record of
/// conflicting accesses.
#ifndef S80_MAX_CORES
#define S80_MAX_CORES 32
#endif

namespace s80::model {

/// The largest number of cores and of processors in this program.
inline constexpr unsigned kMaxCores = S80_MAX_CORES;
/// kMaxCores of a program that is compiled without S80_MAX_CORES, and the largest kMaxCores of all programs.
inline constexpr unsigned kNarrowCores = 32;
inline constexpr unsigned kWideCores = 256;

/// The number of a core or processor; kNobody stands for none. As small as possible, because large arrays
/// contain such numbers.
using CoreNumber = std::conditional_t<(kMaxCores < 256), std::uint8_t, std::uint16_t>;
inline constexpr CoreNumber kNobody = std::numeric_limits<CoreNumber>::max();

/// A set of cores or of processors. `for (const unsigned core : set)` visits them in ascending order. The
/// loop uses a copy of the set, so its body may change the set.
class CoreSet {
public:
    /// The set as a sequence of words. In a file it has as many words as the machine's cores need
    /// (words_for).
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
    /// The cores with numbers below `count`; `count` must be at least 1.
    static constexpr CoreSet below(unsigned count) {
        CoreSet set;
        for (unsigned i = 0; i < words_for(count); ++i) {
            set.words_[i] = ~Word{0} >> (kWordBits - std::min(count - i * kWordBits, kWordBits));
        }
        return set;
    }
    /// Number of words that a set of the cores below `count` needs.
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
            // std::countr_zero would also test for 0, which cannot occur here
            return first() * kWordBits + static_cast<unsigned>(__builtin_ctz(left_[first()]));
        }
        constexpr Iterator& operator++() {
            left_[first()] &= left_[first()] - 1;
            return *this;
        }
        constexpr bool operator==(const Iterator&) const = default;

    private:
        /// Index of the first word that is not 0. The set must not be empty.
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

/// Number of bits for the number of a core or processor.
inline constexpr unsigned kCoreBits = std::bit_width(kMaxCores - 1);
/// The same in a file, where it depends on the machine.
constexpr unsigned file_core_bits(std::size_t processors) {
    return std::bit_width(processors <= kNarrowCores ? kNarrowCores - 1 : kWideCores - 1);
}

}  // namespace s80::model
