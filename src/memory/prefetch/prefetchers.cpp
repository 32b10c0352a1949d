// SPDX-License-Identifier: GPL-2.0-or-later
// The list of prefetchers from which a machine file chooses.
#include <array>

#include "memory/prefetch/prefetcher.h"

namespace s80::model {

namespace {

struct None {
    static constexpr const char* kName = "none";
    static std::unique_ptr<Prefetcher> make(const Machine&) { return nullptr; }
};

using Make = std::unique_ptr<Prefetcher> (*)(const Machine& machine);

template <class... Prefetchers>
struct PrefetcherList {
    static constexpr std::array kNames{Prefetchers::kName...};
    static constexpr std::array<Make, sizeof...(Prefetchers)> kMake{&Prefetchers::make...};
};
using Prefetchers = PrefetcherList<None>;

constexpr std::array kKeys{Key{.name = "prefetcher.kind",
                               .type = KeyType::name,
                               .otherwise = 0,
                               .names = Prefetchers::kNames,
                               .text = "the prefetcher of each L2"}};

}  // namespace

std::span<const Key> prefetcher_keys() {
    return kKeys;
}

std::unique_ptr<Prefetcher> make_prefetcher(const Machine& machine) {
    return Prefetchers::kMake[machine.keys.choice(kKeys[0])](machine);
}

}  // namespace s80::model
