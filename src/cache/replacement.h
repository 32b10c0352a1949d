// SPDX-License-Identifier: GPL-2.0-or-later
// The list of replacement policies, and the one that a cache uses.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/key.h"
#include "cache/replacement/lru.h"
#include "cache/replacement/plru.h"
#include "cache/replacement/random.h"
#include "cache/replacement/srrip.h"

namespace s80::model {

/// In the order of Policies. State files have these numbers: append new ones.
enum class Policy : std::uint8_t { lru, plru, random, srrip };

/// A policy is a class with static members only:
/// - kName: in machine files. kForeseeable: whether the state of a set determines the next victim.
/// - objection(ways): what is wrong with the number of ways ("must be ..."); null: nothing.
/// - bits(ways): how many bits a set needs. 64 bits fit into one word (set_state.h).
/// - init(set, ways): the state of a set in which no way has been used yet.
/// - touch(set, ways, way): an access finds or fills the way.
/// - fill(set, ways, way), optional: an access fills the way; `touch` is then called only if it finds it.
/// - victim(set, ways, common): the way to evict from a set whose ways are all in use. `common`: 64 bits
///   of the whole cache, which the policy may change if it is not foreseeable.
template <class... Policies>
struct PolicyList {
    static constexpr std::array kNames{Policies::kName...};

    /// Calls `fn(policy)` with a value of the policy's class.
    template <class Fn>
    [[gnu::always_inline]] static constexpr decltype(auto) call(Policy policy, Fn&& fn) {
        return call_one<Fn, Policies...>(static_cast<unsigned>(policy), fn);
    }

private:
    template <class Fn, class First, class... Rest>
    [[gnu::always_inline]] static constexpr decltype(auto) call_one(unsigned number, Fn& fn) {
        if constexpr (sizeof...(Rest) == 0) {
            return fn(First{});
        } else {
            return number == 0 ? fn(First{}) : call_one<Fn, Rest...>(number - 1, fn);
        }
    }
};
using Policies = PolicyList<Lru, Plru, Random, Srrip>;

class Replacement {
public:
    Replacement(Policy policy, unsigned ways) : policy_(policy), ways_(ways) {}

    /// Why the policy does not support this number of ways, as the end of a sentence; null: it does.
    static const char* objection(Policy policy, unsigned ways) {
        return Policies::call(policy, [&](auto p) { return p.objection(ways); });
    }
    /// Whether the policy treats a fill and a hit differently. Private caches cannot have such a policy,
    /// because they and the filter of captures do not pass on the difference.
    static constexpr bool tells_fills(Policy policy) {
        return Policies::call(policy, []<class One>(One) { return kTellsFills<One>; });
    }
    /// Bytes of a set's state: at least 4, above 8 ways at least 8.
    static std::size_t bytes(Policy policy, unsigned ways) {
        const std::size_t bits = Policies::call(policy, [&](auto p) { return p.bits(ways); });
        const std::size_t words = (bits + 63) / 64;
        return ways <= 8 && bits <= 32 ? 4 : 8 * std::max<std::size_t>(words, 1);
    }

    void init(std::byte* set) const {
        Policies::call(policy_, [&](auto p) { p.init(set, ways_); });
    }
    [[gnu::always_inline]] void touch(std::byte* set, unsigned way) const {
        Policies::call(
            policy_, [&](auto p) __attribute__((always_inline)) { p.touch(set, ways_, way); });
    }
    [[gnu::always_inline]] void fill(std::byte* set, unsigned way) const {
        Policies::call(
            policy_, [&]<class One>(One) __attribute__((always_inline)) {
                if constexpr (kTellsFills<One>) {
                    One::fill(set, ways_, way);
                } else {
                    One::touch(set, ways_, way);
                }
            });
    }
    /// The way to evict from a set whose ways are all in use.
    unsigned victim(std::byte* set) {
        return Policies::call(policy_, [&](auto p) { return p.victim(set, ways_, common_); });
    }
    /// Whether the state of a set determines its next victim.
    bool foreseeable() const {
        return Policies::call(policy_, [](auto p) { return p.kForeseeable; });
    }
    /// The way that will be evicted next. Only for a foreseeable policy.
    unsigned next_victim(const std::byte* set) const {
        return Policies::call(policy_, [&]<class One>(One) -> unsigned {
            std::uint64_t common = common_;
            if constexpr (One::kForeseeable) {
                return One::victim(set, ways_, common);
            } else {
                return 0;
            }
        });
    }

    /// The state of the whole cache that belongs to no set, for a file.
    std::uint64_t common_state() const { return common_; }
    void set_common_state(std::uint64_t state) { common_ = state; }

private:
    template <class One>
    static constexpr bool kTellsFills = requires(std::byte* set) {
        One::fill(set, 0U, 0U);
    };

    Policy policy_;
    unsigned ways_;
    std::uint64_t common_ = 0x9e3779b97f4a7c15U;
};

/// Calls `fn(policy)` for each policy that private caches can have.
template <class Fn>
constexpr void each_private_policy(Fn&& fn) {
    for (std::size_t number = 0; number < Policies::kNames.size(); ++number) {
        if (const auto policy = static_cast<Policy>(number); !Replacement::tells_fills(policy)) {
            fn(policy);
        }
    }
}
inline constexpr std::size_t kPrivatePolicyCount = [] {
    std::size_t count = 0;
    each_private_policy([&](Policy) { ++count; });
    return count;
}();
inline constexpr auto kPrivatePolicies = [] {
    std::array<Policy, kPrivatePolicyCount> policies{};
    std::size_t count = 0;
    each_private_policy([&](Policy policy) { policies.at(count++) = policy; });
    return policies;
}();
inline constexpr auto kPrivatePolicyNames = [] {
    std::array<const char*, kPrivatePolicyCount> names{};
    std::size_t count = 0;
    each_private_policy(
        [&](Policy policy) { names.at(count++) = Policies::kNames.at(static_cast<std::size_t>(policy)); });
    return names;
}();

inline constexpr Key kPolicyKey{.name = "replacement.policy",
                                .type = KeyType::name,
                                .otherwise = 0,
                                .names = kPrivatePolicyNames,
                                .text = "policy of the private caches"};

}  // namespace s80::model
