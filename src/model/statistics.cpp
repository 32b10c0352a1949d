// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/statistics.h"

#include <iterator>
#include <numeric>

namespace s80::model {

namespace {

using enum Dim;

// Plain data without destructors: the last snapshot is written while the process exits.
constexpr std::array<StatInfo, kStats> kDeclared{{
    {"instructions", "instructions", 3, {core, privilege, party}, false, "instructions begun"},
    {"instruction_class",
     "instructions",
     3,
     {privilege, party, instruction},
     false,
     "instructions by what they do: a branch counts as a branch whatever else it does"},
    {"accesses",
     "line accesses",
     4,
     {core, privilege, party, kind},
     false,
     "lines entered by instruction fetch, lines loaded from or stored to, page-table entries walked"},
    {"l1_misses",
     "accesses",
     4,
     {core, privilege, party, kind},
     false,
     "accesses whose line was absent from the L1"},
    {"l2_accesses",
     "accesses",
     4,
     {core, privilege, party, kind},
     false,
     "L1 misses, and stores that found their line in the L1 without write permission"},
    {"l2_misses",
     "accesses",
     4,
     {core, privilege, party, kind},
     false,
     "L2 accesses whose line was absent from the core's L2 (and L1s, where it excludes them)"},
    {"miss_source",
     "misses",
     5,
     {core, privilege, party, kind, source},
     false,
     "who serviced each L2 miss: memory, or another cache that held the block in M, O, E or S"},
    {"fills",
     "blocks",
     4,
     {core, party, kind, state},
     false,
     "blocks that entered the core from the bus, by the class that asked and the state they entered in"},
    {"upgrades",
     "requests",
     3,
     {core, privilege, party},
     false,
     "stores that found their block in the L2 without the right to write and asked for it on the bus"},
    {"stores_found_e",
     "stores",
     3,
     {core, privilege, party},
     false,
     "stores that found their block in E: each is an upgrade that the E state saved"},
    {"e_to_m",
     "blocks",
     2,
     {core, party},
     false,
     "blocks that entered in E and were stored to while in E, by the class that brought them in"},
    {"e_downgraded",
     "blocks",
     2,
     {core, party},
     false,
     "blocks that entered in E and left it because another core read them"},
    {"e_evicted", "blocks", 2, {core, party}, false, "blocks that entered in E and were evicted in E"},
    {"e_invalidated",
     "blocks",
     2,
     {core, party},
     false,
     "blocks that entered in E and were invalidated in E by another core's store"},
    {"e_resident", "blocks", 2, {core, party}, true, "blocks that entered in E and are in E now"},
    {"l2_evictions", "blocks", 1, {core}, false, "blocks evicted from the L2, and so from the core"},
    {"l2_writebacks", "blocks", 1, {core}, false, "blocks written back to memory"},
    {"l2_invalidations", "blocks", 1, {core}, false, "blocks invalidated by another core's request"},
    {"interventions", "transfers", 1, {core}, false, "blocks that this core supplied to another"},
    {"stall_cycles",
     "cycles",
     5,
     {core, privilege, party, kind, service},
     false,
     "cycles beyond the base cycles, by where the access was serviced; issue: instructions that waited for "
     "the "
     "core's other thread"},
    {"busy_cycles", "cycles", 1, {core}, false, "base cycles and stall cycles"},
    {"transactions",
     "transactions",
     2,
     {transaction, outcome},
     false,
     "transactions that ended, as the load generator's markers say"},
    {"turns", "turns", 1, {turn_length}, false, "turns that QEMU gave its processors, by their instructions"},
    {"turn_instructions", "instructions", 1, {turn_length}, false, "instructions in turns of that length"},
    {"entry_instructions",
     "instructions",
     2,
     {party, entry},
     false,
     "instructions by how the kernel was entered: not (user), by system call, fault, tick, ..."},
    {"entry_miss_source", "misses", 3, {party, entry, source}, false, "miss_source by entry of the kernel"},
    {"entry_upgrades", "requests", 2, {party, entry}, false, "upgrades by entry of the kernel"},
    {"entry_stall_cycles",
     "cycles",
     3,
     {party, entry, service},
     false,
     "stall_cycles by entry of the kernel"},
    {"queue_requests", "requests", 1, {resource}, false, "requests to what [bandwidth] gives a service time"},
    {"queue_busy_cycles", "cycles", 1, {resource}, false, "cycles that they kept it, of all banks together"},
    {"queue_wait_cycles",
     "cycles",
     1,
     {resource},
     false,
     "cycles that they waited for it: part of stall_cycles, write-backs aside"},
}};

std::size_t extent(Dim dim, unsigned cores) {
    return dim == core ? cores : labels(dim).size();
}

}  // namespace

const StatInfo& info(Stat stat) {
    return kDeclared[static_cast<unsigned>(stat)];
}

const char* dim_name(Dim dim) {
    static const char* const names[] = {"core",    "privilege",   "class",   "entry",       "kind",
                                        "source",  "state",       "service", "instruction", "transaction",
                                        "outcome", "turn_length", "resource"};
    return names[static_cast<unsigned>(dim)];
}

std::span<const char* const> labels(Dim dim) {
    static constexpr const char* kPrivilege[] = {"user", "kernel"};
    static constexpr const char* kParty[] = {"session", "delivery", "loadgen", "idle", "kernel", "other"};
    static constexpr const char* kEntry[] = {"user", "system_call",   "fault",
                                             "tick", "interrupt",     "soft_interrupt",
                                             "idle", "kernel_thread", "unknown"};
    static constexpr const char* kKind[] = {"ifetch", "load", "store", "walk"};
    static constexpr const char* kSource[] = {"memory", "M", "O", "E", "S"};
    static constexpr const char* kState[] = {"M", "O", "E", "S"};
    static constexpr const char* kService[] = {"l2", "memory", "cache", "upgrade", "issue"};
    static constexpr const char* kInstruction[] = {
        "load", "store", "load_store", "branch_conditional", "branch_unconditional", "other"};
    static constexpr const char* kTransaction[] = {"CRTE", "DELT", "RENM", "SRCH", "SELT",
                                                   "COPY", "MOVE", "VIEW", "SEND", "MDEL"};
    static constexpr const char* kOutcome[] = {"good", "failed"};
    static constexpr const char* kTurnLength[] = {
        "1",     "2",      "4",      "8",      "16",      "32",      "64",      "128",
        "256",   "512",    "1024",   "2048",   "4096",    "8192",    "16384",   "32768",
        "65536", "131072", "262144", "524288", "1048576", "2097152", "4194304", "8388608"};
    static_assert(std::size(kTurnLength) == kTurnLengths);
    static constexpr const char* kResource[] = {"bus", "memory"};
    switch (dim) {
        case privilege: return kPrivilege;
        case party: return kParty;
        case entry: return kEntry;
        case kind: return kKind;
        case source: return kSource;
        case state: return kState;
        case service: return kService;
        case instruction: return kInstruction;
        case transaction: return kTransaction;
        case outcome: return kOutcome;
        case turn_length: return kTurnLength;
        case resource: return kResource;
        case core: break;
    }
    return {};
}

Statistics::Statistics(unsigned cores) : cores_(cores) {
    static_assert(kStats == static_cast<unsigned>(Stat::queue_wait_cycles) + 1);
    std::size_t at = 0;
    for (unsigned s = 0; s < kStats; ++s) {
        offset_[s] = at;
        std::size_t n = 1;
        for (const Dim d : kDeclared[s].dims()) {
            n *= extent(d, cores);
        }
        at += n;
    }
    offset_[kStats] = at;
    all_.assign(at, 0);
}

std::uint64_t Statistics::sum(Stat stat) const {
    const auto v = values(stat);
    return std::accumulate(v.begin(), v.end(), std::uint64_t{0});
}

}  // namespace s80::model
