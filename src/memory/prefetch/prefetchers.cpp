// SPDX-License-Identifier: GPL-2.0-or-later
// The list of prefetchers.
#include <array>
#include <string>

#include "memory/prefetch/prefetcher.h"

namespace s80::model {

namespace {

using Make = std::unique_ptr<Prefetcher> (*)(const Machine& machine);
struct PrefetcherKind {
    const char* name;
    Make make;
};

constexpr std::array kPrefetchers{
    PrefetcherKind{"none", [](const Machine&) -> std::unique_ptr<Prefetcher> { return nullptr; }},
};

}  // namespace

std::unique_ptr<Prefetcher> make_prefetcher(const Machine& machine) {
    const Keys& keys = machine.keys;
    const std::string wanted = keys.text("prefetcher.kind", "none");
    return kPrefetchers[position(kPrefetchers, wanted, keys.where(), "prefetcher.kind",
                                 &PrefetcherKind::name)]
        .make(machine);
}

}  // namespace s80::model
