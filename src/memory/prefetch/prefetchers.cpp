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
    const std::string wanted = machine.keys.text("prefetcher.kind", "none");
    std::string names;
    for (const auto& [name, make] : kPrefetchers) {
        if (name == wanted) {
            return make(machine);
        }
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    throw Error(machine.keys.where() + ": prefetcher.kind is '" + wanted + "'; allowed: " + names);
}

}  // namespace s80::model
