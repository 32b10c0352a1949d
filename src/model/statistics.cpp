// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/statistics.h"

#include <numeric>

namespace s80::model {

namespace {

using enum Dim;

const std::vector<StatInfo>& declared() {
    static const std::vector<StatInfo> all{
        {"instructions", "instructions", {core, privilege, party}, false, "instructions begun"},
        {"instruction_class", "instructions", {privilege, party, instruction}, false,
         "instructions by what they do: a branch counts as a branch whatever else it does"},
        {"accesses", "line accesses", {core, privilege, party, kind}, false,
         "lines entered by instruction fetch, lines loaded from or stored to, page-table entries walked"},
        {"l1_misses", "accesses", {core, privilege, party, kind}, false,
         "accesses whose line was absent from the L1"},
        {"l2_accesses", "accesses", {core, privilege, party, kind}, false,
         "L1 misses, and stores that found their line in the L1 without write permission"},
        {"l2_misses", "accesses", {core, privilege, party, kind}, false,
         "L2 accesses whose line was absent from the L2"},
        {"miss_source", "misses", {core, privilege, party, kind, source}, false,
         "who serviced each L2 miss: memory, or another cache that held the block in M, O, E or S"},
        {"fills", "blocks", {core, kind, state}, false,
         "blocks that entered the L2, by the state they entered in"},
        {"upgrades", "requests", {core, privilege, party}, false,
         "stores that found their block in the L2 without the right to write and asked for it on the bus"},
        {"stores_found_e", "stores", {core, privilege, party}, false,
         "stores that found their block in E: each is an upgrade that the E state saved"},
        {"e_to_m", "blocks", {core}, false, "blocks that entered in E and were stored to while in E"},
        {"e_downgraded", "blocks", {core}, false,
         "blocks that entered in E and left it because another core read them"},
        {"e_evicted", "blocks", {core}, false, "blocks that entered in E and were evicted in E"},
        {"e_invalidated", "blocks", {core}, false,
         "blocks that entered in E and were invalidated in E by another core's store"},
        {"e_resident", "blocks", {core}, true, "blocks that entered in E and are in E now"},
        {"l2_evictions", "blocks", {core}, false, "blocks evicted from the L2"},
        {"l2_writebacks", "blocks", {core}, false, "blocks written back to memory"},
        {"l2_invalidations", "blocks", {core}, false, "blocks invalidated by another core's request"},
        {"interventions", "transfers", {core}, false, "blocks that this L2 supplied to another core"},
        {"stall_cycles", "cycles", {core, privilege, party, kind, service}, false,
         "cycles beyond the base cycles, by where the access was serviced"},
        {"busy_cycles", "cycles", {core}, false, "base cycles and stall cycles"},
        {"transactions", "transactions", {transaction, outcome}, false,
         "transactions that ended, as the load generator's markers say"},
    };
    return all;
}

std::size_t extent(Dim dim, unsigned cores) { return dim == core ? cores : labels(dim).size(); }

}  // namespace

const StatInfo& info(Stat stat) { return declared()[static_cast<unsigned>(stat)]; }

const char* dim_name(Dim dim) {
    static const char* const names[] = {"core",  "privilege", "class",       "kind",        "source",
                                        "state", "service",   "instruction", "transaction", "outcome"};
    return names[static_cast<unsigned>(dim)];
}

const std::vector<std::string>& labels(Dim dim) {
    static const std::vector<std::string> all[] = {
        {},
        {"user", "kernel"},
        {"server", "loadgen", "other"},
        {"ifetch", "load", "store", "walk"},
        {"memory", "M", "O", "E", "S"},
        {"M", "O", "E", "S"},
        {"l2", "memory", "cache", "upgrade"},
        {"load", "store", "load_store", "branch_conditional", "branch_unconditional", "other"},
        {"CRTE", "DELT", "RENM", "SRCH", "SELT", "COPY", "MOVE", "VIEW", "SEND", "MDEL"},
        {"good", "failed"},
    };
    return all[static_cast<unsigned>(dim)];
}

Statistics::Statistics(unsigned cores) : cores_(cores) {
    static_assert(kStats == static_cast<unsigned>(Stat::transactions) + 1);
    std::size_t at = 0;
    for (unsigned s = 0; s < kStats; ++s) {
        offset_[s] = at;
        std::size_t n = 1;
        for (const Dim d : declared()[s].dims) {
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
