// SPDX-License-Identifier: GPL-2.0-or-later
// The command `warm` writes the state in which a trace leaves the caches. The command `rebuild` writes a
// trace that brings cold caches into a state.
#include "warm/order_warm.h"

#include <cstdio>

#include "checkpoint/state_file.h"
#include "timing/merger.h"
#include "warm/trace.h"

namespace s80::replay {

void warm_order(const Options& options) {
    const auto machine = model::Machine::load(options.need("machine"));
    const auto protocol = model::Protocol::load(options.need("protocol"));
    const auto order = read_order(options.need("order"), machine, model::kNoLine);
    model::Hierarchy hierarchy(machine, protocol, options.number("lines", lines_of(order)));
    for (const Access& access : order) {
        hierarchy.access(access.processor / machine.threads_per_core, access.line, access.kind(),
                         access.who());
    }
    model::save_state(options.need("out"), hierarchy, model::TimingMerger(hierarchy), {});
}

void rebuild_order(const Options& options) {
    const auto machine = model::Machine::load(options.need("machine"));
    const auto protocol = model::Protocol::load(options.need("protocol"));
    model::Hierarchy state(machine, protocol, options.number("lines", 0));
    model::TimingMerger merger(state);
    model::load_state(options.need("state"), state, merger);
    const WarmTrace trace = rebuild(machine, state);
    if (const std::string path = options.text("assumed", ""); !path.empty()) {
        model::save_state(path, state, merger, {});
    }
    OrderWriter out(options.need("out"));
    for (const Access& access : trace.accesses) {
        out.write(access);
    }
    out.close();
    Census census(protocol);
    census.add(machine.cores(), state);
    std::printf(R"({"accesses":%zu,"pauses":%llu,"lines":%zu,"spare_cores":%u,"spare_sets":%u,)"
                R"("assumed":%llu,"remembered":%zu,"contents":%s})"
                "\n",
                trace.accesses.size(), static_cast<unsigned long long>(trace.pauses), trace.lines, kSpares,
                trace.spare_sets, static_cast<unsigned long long>(trace.assumed),
                state.home().remembered().size(), census.json().c_str());
}

}  // namespace s80::replay
