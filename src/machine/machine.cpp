// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/machine.h"

#include <array>
#include <bit>
#include <sstream>
#include <utility>
#include <vector>

namespace s80::model {

namespace {

void check_policy(const std::string& where, const std::string& part, unsigned ways, Policy policy) {
    if (const char* const objection = Replacement::objection(policy, ways)) {
        throw Error(where + ": " + part + ".ways = " + std::to_string(ways) + " " + objection +
                    " for the replacement policy `" + Policies::kNames[static_cast<unsigned>(policy)] + "`");
    }
}

bool sets_can_be_built(const CacheGeometry& g, unsigned line_bytes) {
    const std::uint64_t set = std::uint64_t{g.ways} * line_bytes;
    return set != 0 && g.bytes % set == 0 && std::has_single_bit(g.bytes / set);
}

std::string number_of_sets(const CacheGeometry& g, unsigned line_bytes) {
    std::ostringstream number;
    number << static_cast<double>(g.bytes) / (static_cast<double>(g.ways) * line_bytes);
    return number.str();
}

void check_geometry(const std::string& where, const std::string& cache, const CacheGeometry& g,
                    const Machine& m, Policy policy) {
    if (!sets_can_be_built(g, m.line_bytes)) {
        throw Error(where + ": " + cache + ".size = " + std::to_string(g.bytes) + " bytes in " +
                    std::to_string(g.ways) + " ways of " + std::to_string(m.line_bytes) +
                    "-byte lines makes " + number_of_sets(g, m.line_bytes) +
                    " sets; the number of sets must be a power of two");
    }
    check_policy(where, cache, g.ways, policy);
}

/// Throws if the part cannot be built. size: the key of the size with its value, for example "entries = 12".
void check_sliced(const std::string& where, const std::string& part, const std::string& size,
                  const SlicedGeometry& g, unsigned line_bytes) {
    const std::uint64_t lines = g.lines(line_bytes);
    const std::string slices = part + ".slices = " + std::to_string(g.slices);
    const std::string begin = where + ": " + part + "." + size;
    if (g.all.bytes % line_bytes != 0) {
        throw Error(begin + " is not a whole number of " + std::to_string(line_bytes) + "-byte lines");
    }
    if (g.slices == 0 || lines < std::uint64_t{g.slices} * g.all.ways) {
        throw Error(begin + " is less than one set of " + std::to_string(g.all.ways) +
                    " ways in each slice (" + slices + "): make " + part +
                    " larger, or lower ways or slices");
    }
    if (lines % g.slices != 0) {
        throw Error(begin + " makes " + std::to_string(lines) + " lines, which " + slices +
                    " does not divide");
    }
    if (!sets_can_be_built(g.slice(), line_bytes)) {
        throw Error(begin + " with " + slices + " and " + std::to_string(g.all.ways) + " ways makes " +
                    number_of_sets(g.slice(), line_bytes) +
                    " sets in a slice; the number of sets must be a power of two");
    }
    check_policy(where, part, g.all.ways, g.policy);
}

void check_group(const std::string& where, const Machine& m) {
    if (m.cores() % m.group->cores != 0) {
        throw Error(where + ": group.cores = " + std::to_string(m.group->cores) + " does not divide the " +
                    std::to_string(m.cores()) + " cores of the machine");
    }
    if (m.agents() > kMaxCores) {
        throw TooManyCores(where + ": the machine has " + std::to_string(m.cores()) + " cores and " +
                           std::to_string(m.agents() - m.cores()) + " group caches, at most " +
                           std::to_string(kMaxCores) + " of both together are supported");
    }
    check_geometry(where, "group", m.group->cache, m, m.group->policy);
}

/// Reads the table [llc] or [directory], which the file must have. `bytes`: size. `declared`: its keys.
SlicedGeometry read_sliced(const Keys& keys, std::uint64_t bytes, const std::array<Key, 4>& declared) {
    return {{bytes, keys.number(declared[1])},
            keys.number(declared[2]),
            static_cast<Policy>(keys.choice(declared[3]))};
}

Machine read_machine(Keys keys) {
    Machine m;
    m.name = keys.text("name");
    m.processors = keys.number(kProcessorsKey);
    m.threads_per_core = keys.number(kThreadsKey);
    m.clock_hz = keys.wide(kClockHzKey);
    m.line_bytes = keys.number(kLineKey);
    m.l1i = {keys.wide(kL1iKeys[0]), keys.number(kL1iKeys[1])};
    m.l1d = {keys.wide(kL1dKeys[0]), keys.number(kL1dKeys[1])};
    m.l2 = {keys.wide(kL2Keys[0]), keys.number(kL2Keys[1])};
    m.policy = kPrivatePolicies.at(keys.choice(kPolicyKey));
    m.latency = Latency::read(keys);
    m.translation = Translation::read(keys);
    m.bandwidth = Bandwidth::read(keys);
    m.issue_share = keys.real(kIssueShareKey);
    m.base_cpi = keys.real(kBaseCpiKey);
    m.quantum_cycles = keys.number(kQuantumKey);
    m.filter_instructions = keys.number(kFilterKey);
    m.epoch_cycles = keys.number(kEpochKey);
    m.l2_inclusion = keys.text("l2.inclusion", m.l2_inclusion);
    if (keys.has_table("group")) {
        m.group = Group::read(keys);
    }
    if (keys.has_table("llc")) {
        m.llc = read_sliced(keys, keys.wide(kLlcKeys[0]), kLlcKeys);
    }
    if (keys.has_table("directory")) {
        const std::uint64_t entries = keys.multiple(kDirectoryKeys[0], m.private_lines());
        m.directory = read_sliced(keys, entries * m.line_bytes, kDirectoryKeys);
    }
    m.check(keys.where());
    m.keys = std::move(keys);
    return m;
}

}  // namespace

/// With an inclusive organisation, the L2 holds the lines of the L1s too. With the others, L1s and L2 hold
/// different lines.
std::uint64_t Machine::private_lines() const {
    const std::uint64_t bytes =
        l2.bytes + (l2_inclusion.starts_with("inclusive") ? 0 : l1i.bytes + l1d.bytes);
    const std::uint64_t in_groups = group ? (agents() - cores()) * (group->cache.bytes / line_bytes) : 0;
    return cores() * (bytes / line_bytes) + in_groups;
}

CoreSet Machine::cores_of(unsigned agent) const {
    if (!is_group_cache(agent)) {
        return CoreSet::only(agent);
    }
    const unsigned first = (agent - cores()) * group->cores;
    CoreSet set;
    for (unsigned core = first; core < first + group->cores; ++core) {
        set.add(core);
    }
    return set;
}

unsigned Machine::line_shift() const {
    return static_cast<unsigned>(std::countr_zero(line_bytes));
}

void Machine::check(const std::string& where) const {
    if (!std::has_single_bit(line_bytes)) {
        throw Error(where + ": line_bytes = " + std::to_string(line_bytes) + " must be a power of two");
    }
    if (processors % threads_per_core != 0) {
        throw Error(
            where + ": processors.count = " + std::to_string(processors) +
            " must be a multiple of processors.threads_per_core = " + std::to_string(threads_per_core));
    }
    if (processors > kMaxCores) {
        throw TooManyCores(where + ": processors.count = " + std::to_string(processors) + ", at most " +
                           std::to_string(kMaxCores) + " are supported");
    }
    if (issue_share < 1 && threads_per_core != 2) {
        throw Error(where +
                    ": smt.issue_share below 1 needs cores with two threads, but processors.threads_per_core "
                    "= " +
                    std::to_string(threads_per_core));
    }
    check_geometry(where, "l1i", l1i, *this, policy);
    check_geometry(where, "l1d", l1d, *this, policy);
    check_geometry(where, "l2", l2, *this, policy);
    if (group) {
        check_group(where, *this);
    }
    if (llc) {
        check_sliced(where, "llc", "size = " + std::to_string(llc->all.bytes) + " bytes", *llc, line_bytes);
    }
    if (directory) {
        const std::uint64_t entries = directory->lines(line_bytes);
        check_sliced(where, "directory", "entries = " + std::to_string(entries), *directory, line_bytes);
    }
}

Machine Machine::load(const std::string& path) {
    return read_machine(Keys::load(path));
}

Machine Machine::parse(const std::string& text, const std::string& where) {
    return read_machine(Keys::parse(text, where));
}

}  // namespace s80::model
