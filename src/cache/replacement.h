// SPDX-License-Identifier: GPL-2.0-or-later
// The list of replacement policies, and the class that applies one of them to a cache.
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

/// Numbers of the policies, in the order of Policies. State files contain these numbers, so append new ones.
enum class Policy : std::uint8_t { lru, plru, random, srrip };

/// What the class of a policy must have, all of it static. `set`: memory of one set's state.
/// - kName: name in machine files.
/// - kForeseeable: whether the state of a set determines the next victim.
/// - objection(ways): why the policy does not support this number of ways, as the end of a sentence ("must be
///   ..."); null: it does.
/// - bits(ways): size of the state of a set, in bits. Up to 64 bits fit into a word (set_state.h).
/// - init(set, ways): initial state, in which no way has been used.
/// - touch(set, ways, way): an access has hit the way, or filled it if there is no fill().
/// - fill(set, ways, way), optional: an access has filled the way.
/// - victim(set, ways, common): the way to evict; called if all ways are in use. `common`: 64 bits for the
///   whole cache, which the policy may change if kForeseeable is false.
template <class... Policies>
struct PolicyList {
    static constexpr std::array kNames{Policies::kName...};

    /// Calls `fn(policy)` with an object of the class of this policy.
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
    /// Whether the policy distinguishes fills from hits. Private caches cannot have such a policy, because
    /// neither they nor the filter of captures tell the policy the difference.
    static constexpr bool tells_fills(Policy policy) {
        return Policies::call(policy, []<class One>(One) { return kTellsFills<One>; });
    }
    /// Size of the state of a set in bytes: at least 4, and at least 8 above 8 ways.
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
    /// The way to evict. Only if all ways of the set are in use.
    unsigned victim(std::byte* set) {
        return Policies::call(policy_, [&](auto p) { return p.victim(set, ways_, common_); });
    }
    /// Whether the state of a set determines the next victim.
    bool foreseeable() const {
        return Policies::call(policy_, [](auto p) { return p.kForeseeable; });
    }
    /// The way that victim() would return next. Only if foreseeable().
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

    /// State of the whole cache that belongs to no single set, for a checkpoint.
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

/// Calls `fn(policy)` for each policy that private caches may have.
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
