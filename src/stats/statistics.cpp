// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/statistics.h"

#include <iterator>
#include <numeric>

namespace s80::model {

namespace {

using enum Dim;

// Plain data without destructors: the last snapshot is written while the process exits.
constexpr std::array<StatInfo, kStats> kDeclared{{
    {"instructions", "instructions", 3, {core, privilege, process_class}, false, "instructions begun"},
    {"instruction_class",
     "instructions",
     3,
     {privilege, process_class, instruction},
     false,
     "instructions by type; an instruction that branches counts as a branch only"},
    {"accesses",
     "line accesses",
     4,
     {core, privilege, process_class, kind},
     false,
     "lines entered by instruction fetches, lines loaded or stored to, page-table entries read by walks"},
    {"l1_misses",
     "accesses",
     4,
     {core, privilege, process_class, kind},
     false,
     "accesses whose line was not in the L1"},
    {"l2_accesses",
     "accesses",
     4,
     {core, privilege, process_class, kind},
     false,
     "L1 misses, and stores whose line was in the L1 without write permission"},
    {"l2_misses",
     "accesses",
     4,
     {core, privilege, process_class, kind},
     false,
     "L2 accesses whose line was not in the core's L2 (nor, with an exclusive L2, in its L1s)"},
    {"miss_source",
     "misses",
     5,
     {core, privilege, process_class, kind, source},
     false,
     "L2 misses by source: memory, or another cache that held the block in M, O, E or S"},
    {"fills",
     "blocks",
     4,
     {core, process_class, kind, state},
     false,
     "fills: blocks that entered the core from the bus, by requesting process class and initial state"},
    {"upgrades",
     "requests",
     3,
     {core, privilege, process_class},
     false,
     "stores whose block was in the L2 without write permission and that requested it on the bus"},
    {"stores_found_e",
     "stores",
     3,
     {core, privilege, process_class},
     false,
     "stores that found their block in E: each is an upgrade that state E avoided"},
    {"e_to_m",
     "blocks",
     2,
     {core, process_class},
     false,
     "E fills that were stored to while in E, by the process class that caused the fill"},
    {"e_downgraded",
     "blocks",
     2,
     {core, process_class},
     false,
     "E fills that left E because another core read the block"},
    {"e_evicted", "blocks", 2, {core, process_class}, false, "E fills that were evicted while in E"},
    {"e_invalidated",
     "blocks",
     2,
     {core, process_class},
     false,
     "E fills that were invalidated while in E by another core's store"},
    {"e_resident", "blocks", 2, {core, process_class}, true, "E fills that are still in E"},
    {"l2_evictions", "blocks", 1, {core}, false, "blocks evicted from the L2, and therefore from the core"},
    {"l2_writebacks", "blocks", 1, {core}, false, "blocks written back to memory"},
    {"l2_invalidations", "blocks", 1, {core}, false, "blocks invalidated by another core's request"},
    {"interventions", "transfers", 1, {core}, false, "blocks that this core supplied to another core"},
    {"stall_cycles",
     "cycles",
     5,
     {core, privilege, process_class, kind, service},
     false,
     "cycles beyond the base cycles, by the place that serviced the access; issue: waits of instructions "
     "for the core's other thread; order: waits for a conflicting access of another processor"},
    {"busy_cycles", "cycles", 1, {core}, false, "base cycles and stall cycles"},
    {"transactions",
     "transactions",
     2,
     {transaction, outcome},
     false,
     "transactions that ended, from the load generator's markers"},
    {"slices", "slices", 1, {slice_length}, false, "time slices of QEMU's processors by length"},
    {"slice_instructions", "instructions", 1, {slice_length}, false, "instructions in such time slices"},
    {"entry_instructions",
     "instructions",
     2,
     {process_class, entry},
     false,
     "instructions by kernel entry cause: none (user code), system call, fault, timer tick, ..."},
    {"entry_miss_source",
     "misses",
     3,
     {process_class, entry, source},
     false,
     "miss_source by kernel entry cause"},
    {"entry_upgrades", "requests", 2, {process_class, entry}, false, "upgrades by kernel entry cause"},
    {"entry_stall_cycles",
     "cycles",
     3,
     {process_class, entry, service},
     false,
     "stall_cycles by kernel entry cause"},
    {"queue_requests", "requests", 1, {resource}, false, "requests to a resource with a service time"},
    {"queue_busy_cycles", "cycles", 1, {resource}, false, "cycles that the resource was busy, all banks"},
    {"queue_wait_cycles",
     "cycles",
     1,
     {resource},
     false,
     "cycles that requests queued for the resource: part of stall_cycles, except for writebacks"},
    {"epoch_cycles",
     "cycles",
     1,
     {core},
     false,
     "cycles that processors were given in epochs through which they ran (clock.epoch_cycles each)"},
    {"epoch_error_cycles",
     "cycles",
     1,
     {core},
     false,
     "cycles by which such processors were ahead of or behind simulated time at the ends of those epochs"},
    {"order_waits",
     "waits",
     1,
     {core},
     false,
     "ordering edges at which the conflicting access was later in simulated time"},
    {"wait_error_cycles",
     "cycles",
     1,
     {core},
     false,
     "cycles by which processors that poll saw a store later than they would on the machine"},
    {"invalidations_sent",
     "blocks",
     3,
     {core, privilege, process_class},
     false,
     "blocks of other cores that this core's requests invalidated"},
}};

std::size_t extent(Dim dim, unsigned cores) {
    return dim == core ? cores : labels(dim).size();
}

}  // namespace

const StatInfo& info(Stat stat) {
    return kDeclared[static_cast<unsigned>(stat)];
}

const char* dim_name(Dim dim) {
    static const char* const names[] = {"core",    "privilege",    "class",   "entry",       "kind",
                                        "source",  "state",        "service", "instruction", "transaction",
                                        "outcome", "slice_length", "resource"};
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
    static constexpr const char* kService[] = {"l2", "memory", "cache", "upgrade", "issue", "order"};
    static constexpr const char* kInstruction[] = {
        "load", "store", "load_store", "branch_conditional", "branch_unconditional", "other"};
    static constexpr const char* kTransaction[] = {"CRTE", "DELT", "RENM", "SRCH", "SELT",
                                                   "COPY", "MOVE", "VIEW", "SEND", "MDEL"};
    static constexpr const char* kOutcome[] = {"good", "failed"};
    static constexpr const char* kSliceLength[] = {
        "1",     "2",      "4",      "8",      "16",      "32",      "64",      "128",
        "256",   "512",    "1024",   "2048",   "4096",    "8192",    "16384",   "32768",
        "65536", "131072", "262144", "524288", "1048576", "2097152", "4194304", "8388608"};
    static_assert(std::size(kSliceLength) == kSliceLengths);
    static constexpr const char* kResource[] = {"bus", "memory"};
    switch (dim) {
        case privilege: return kPrivilege;
        case process_class: return kParty;
        case entry: return kEntry;
        case kind: return kKind;
        case source: return kSource;
        case state: return kState;
        case service: return kService;
        case instruction: return kInstruction;
        case transaction: return kTransaction;
        case outcome: return kOutcome;
        case slice_length: return kSliceLength;
        case resource: return kResource;
        case core: break;
    }
    return {};
}

Statistics::Statistics(unsigned cores) : cores_(cores) {
    static_assert(kStats == static_cast<unsigned>(Stat::invalidations_sent) + 1);
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
