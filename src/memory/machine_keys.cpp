// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/machine_keys.h"

#include <array>
#include <initializer_list>
#include <iomanip>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "memory/home/home.h"
#include "memory/prefetch/prefetcher.h"
#include "memory/private/organisations.h"

namespace s80::model {

namespace {

/// A table of machine files. optional: resolved files lack it if all its values are the defaults.
struct Table {
    const char* name;
    const char* text;
    bool optional;
    std::vector<Key> keys;
};

std::vector<Key> joined(std::initializer_list<std::span<const Key>> lists) {
    std::vector<Key> keys;
    for (const std::span<const Key> list : lists) {
        keys.insert(keys.end(), list.begin(), list.end());
    }
    return keys;
}

/// All tables, in the order of resolved files.
std::vector<Table> tables() {
    return {
        {"", "", false, {kLineKey}},
        {"processors", "hardware threads and their clock", false, {kProcessorsKey, kThreadsKey, kClockHzKey}},
        {"l1i", "instruction cache of each core", false, joined({kL1iKeys})},
        {"l1d", "data cache of each core", false, joined({kL1dKeys})},
        {"l2", "private L2 of each core", false, joined({kL2Keys, {&kInclusionKey, 1}})},
        {"replacement", "how a full set makes room", false, {kPolicyKey}},
        {"latency", "stall cycles of an access, by what services it; an L1 hit does not stall", false,
         joined({Latency::kKeys})},
        {"clock",
         "timing of instructions and of the timing merger",
         false,
         {kBaseCpiKey, kQuantumKey, kFilterKey, kEpochKey}},
        {"translation", "page walks of data accesses that miss in the TLB", true,
         joined({Translation::kKeys})},
        {"bandwidth", "service times; 0: unlimited, so that requests never queue", true,
         joined({Bandwidth::kKeys})},
        {"smt",
         "cores with two threads, which share the core's caches and issue slots",
         true,
         {kIssueShareKey}},
        {"group", "group caches: each takes the victims of the L2s of a group of cores", true,
         joined({Group::kKeys})},
        {"llc", "shared last-level cache, for a protocol whose [home] has states with data", true,
         joined({kLlcKeys})},
        {"directory",
         "bounded directory, for a protocol whose [home] has the row recall; without the table, the "
         "directory knows all copies",
         true, joined({kDirectoryKeys})},
        {"home", "what lies behind the private caches", true, home_keys()},
        {"prefetcher", "hardware prefetching", true, joined({prefetcher_keys()})},
    };
}

std::string quoted(std::string_view text) {
    std::string json = "\"";
    for (const char letter : text) {
        json += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
    }
    return json + '"';
}

std::string json(const Key& key) {
    static constexpr std::array kTypes{"number", "size", "real", "name"};
    const std::string_view name = key.name;
    std::ostringstream out;
    out << std::setprecision(17) << "{\"name\": " << quoted(name.substr(name.find('.') + 1))
        << ", \"type\": " << quoted(kTypes[static_cast<unsigned>(key.type)]);
    if (key.type == KeyType::name) {
        out << ", \"names\": [";
        for (std::size_t i = 0; i < key.names.size(); ++i) {
            out << (i == 0 ? "" : ", ") << quoted(key.names[i]);
        }
        out << ']';
    } else {
        out << ", \"least\": " << key.least << ", \"most\": " << key.most;
    }
    if (key.most_multiple > 0) {
        out << ", \"most_multiple\": " << key.most_multiple;
    }
    if (key.power_of_two) {
        out << ", \"power_of_two\": true";
    }
    if (key.optional) {
        out << ", \"optional\": true";
    }
    if (key.otherwise && key.type == KeyType::name) {
        out << ", \"default\": " << quoted(key.names[key.standard<unsigned>()]);
    } else if (key.otherwise) {
        out << ", \"default\": " << *key.otherwise;
    }
    out << ", \"unit\": " << quoted(key.unit) << ", \"text\": " << quoted(key.text) << '}';
    return out.str();
}

}  // namespace

std::string machine_keys_json() {
    std::string text = "[\n";
    const char* comma = "";
    for (const Table& table : tables()) {
        text += std::string(comma) + "{\"table\": " + quoted(table.name) +
                ", \"text\": " + quoted(table.text) +
                ", \"optional\": " + (table.optional ? "true" : "false") + ", \"keys\": [";
        const char* separator = "\n  ";
        for (const Key& key : table.keys) {
            text += separator + json(key);
            separator = ",\n  ";
        }
        text += "]}";
        comma = ",\n";
    }
    return text + "\n]\n";
}

}  // namespace s80::model
