// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/arguments.h"

#include <charconv>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "base/types.h"

namespace s80::plugin {

using model::Error;

namespace {

/// The same limit as in scripts/s80lab/config/machine.py, which computes the argument.
constexpr std::uint64_t kLargestClockShift = 10;
constexpr std::uint64_t kSlowest = 1000;
constexpr std::uint64_t kFewestSums = 1'000;
constexpr std::uint64_t kMostSums = 1'000'000'000;

using Known = std::map<std::string_view, std::variant<std::string*, std::uint64_t*>>;

/// Sets the value of an argument KEY=VALUE.
void set(const Known& known, std::string_view word) {
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    const auto it = known.find(key);
    if (it == known.end() || equals == std::string_view::npos) {
        throw Error("unknown plugin argument '" + std::string(word) + "'");
    }
    const auto value = word.substr(equals + 1);
    if (auto* const* text = std::get_if<std::string*>(&it->second)) {
        **text = value;
        return;
    }
    auto* number = std::get<std::uint64_t*>(it->second);
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
    if (error != std::errc{} || end != value.data() + value.size()) {
        throw Error("the plugin argument " + std::string(key) + " needs a number, not '" +
                    std::string(value) + "'");
    }
}

/// Throws Error if values contradict each other.
void check(const Arguments& a) {
    for (const auto& [key, value] : {std::pair{"misses", &a.misses}, {"profile", &a.profile}}) {
        if (!value->empty() && a.measure == 0) {
            throw Error("the plugin argument " + std::string(key) +
                        " applies to the measured region, so it needs measure");
        }
    }
    if (a.dma != 0 && !(a.capture_full.empty() && a.capture_filtered.empty())) {
        throw Error("a capture cannot contain accesses of devices: remove the plugin argument dma");
    }
    if (a.clock_shift > kLargestClockShift) {
        throw Error("the plugin argument clock_shift must not be above " +
                    std::to_string(kLargestClockShift));
    }
    if (a.slow == 0 || a.slow > kSlowest) {
        throw Error("the plugin argument slow must be from 1 to " + std::to_string(kSlowest));
    }
    if (!a.mappings.empty() && a.kernel.empty()) {
        throw Error("the plugin argument mappings needs kernel");
    }
    if (!a.allocations.empty() && a.mappings.empty()) {
        throw Error("the plugin argument allocations needs mappings");
    }
    if (a.sums_limit < kFewestSums || a.sums_limit > kMostSums) {
        throw Error("the plugin argument sums_limit must be from " + std::to_string(kFewestSums) + " to " +
                    std::to_string(kMostSums));
    }
    if (a.sampling_interval == 0) {
        throw Error("the plugin argument sampling_interval must not be 0");
    }
}

}  // namespace

Arguments Arguments::parse(int argc, char** argv) {
    Arguments a;
    const Known known{
        {"machine", &a.machine},
        {"protocol", &a.protocol},
        {"out", &a.out},
        {"ram", &a.ram},
        {"low_ram", &a.low_ram},
        {"misses", &a.misses},
        {"sums", &a.sums},
        {"sums_limit", &a.sums_limit},
        {"mappings", &a.mappings},
        {"allocations", &a.allocations},
        {"profile", &a.profile},
        {"kernel", &a.kernel},
        {"classes", &a.classes},
        {"state_in", &a.state_in},
        {"state_out", &a.state_out},
        {"watch", &a.watch},
        {"capture_full", &a.capture_full},
        {"capture_filtered", &a.capture_filtered},
        {"capture_origin", &a.capture_origin},
        {"clock_shift", &a.clock_shift},
        {"dma", &a.dma},
        {"slow", &a.slow},
        {"slice", &a.slice},
        {"skip", &a.skip},
        {"measure", &a.measure},
        {"region_from", &a.region_from},
        {"region_to", &a.region_to},
        {"counted", &a.counted},
        {"run", &a.run},
        {"markers", &a.markers},
        {"sampling_interval", &a.sampling_interval},
        {"growth", &a.growth},
    };
    for (int i = 0; i < argc; ++i) {
        set(known, argv[i]);
    }
    for (const char* key : {"machine", "protocol", "out", "ram"}) {
        if (std::get<std::string*>(known.at(key))->empty()) {
            throw Error(std::string("the plugin argument ") + key + " is missing");
        }
    }
    check(a);
    return a;
}

}  // namespace s80::plugin
