// SPDX-License-Identifier: GPL-2.0-or-later
#include "warm/trace.h"

#include <algorithm>

namespace s80::replay {

using model::Hierarchy;
using model::Line;

namespace {

/// Time between the end of an access and the beginning of the next access of the same group, in cycles. When
/// gem5's Ruby reports the end of an access, acknowledgements and writebacks may still be on their way. Twice
/// the longest path is enough; the constant is for Ruby's network and controllers on a machine without
/// latencies.
std::uint64_t quiet_cycles(const model::Latency& latency) {
    return 200 + 2 * (std::uint64_t{latency.l2_hit} + latency.memory + latency.cache + latency.upgrade);
}

/// Interleaves the plans of groups. A `Vcpu` here is a set of the spare cores' caches, which works on one
/// group at a time.
class Interleaver {
public:
    Interleaver(const Layout& layout, const model::Machine& machine, std::vector<std::vector<Step>> plans)
        : layout_(layout),
          pause_(1 + machine.latency.memory),
          quiet_(quiet_cycles(machine.latency)),
          plans_(std::move(plans)) {
        for (unsigned vcpu = 0; vcpu < layout.vcpus; ++vcpu) {
            vcpus_.push_back({vcpu, 0, 0});
        }
    }

    void write(WarmTrace& out) {
        for (bool left = true; left;) {
            left = false;
            bool ready = false;
            for (Vcpu& vcpu : vcpus_) {
                while (vcpu.group < layout_.groups && vcpu.next == plans_[vcpu.group].size()) {
                    plans_[vcpu.group] = {};
                    vcpu.group += layout_.vcpus;
                    vcpu.next = 0;
                }
                if (vcpu.group >= layout_.groups) {
                    continue;
                }
                left = true;
                if (now_ >= vcpu.ready) {
                    const Step& step = plans_[vcpu.group][vcpu.next++];
                    put(out, step);
                    vcpu.ready = now_ + quiet_;
                    ready = true;
                }
            }
            if (left && !ready) {
                pause(out);
            }
        }
        // Ends the trace with hits that last until the last access has no message on its way. The hits
        // alternate between two lines, because Ruby answers consecutive accesses of a core to one line in no
        // time.
        pause(out);
        const Line hits[] = {layout_.pacer(number_ - 1), layout_.bystander()};
        put(out, {layout_.bystander(), pacer(), model::Kind::load, pause_});
        for (std::uint64_t n = 0; n < quiet_; ++n) {
            put(out, {hits[n % 2], pacer(), model::Kind::load, 1});
        }
    }

private:
    struct Vcpu {
        unsigned group = 0;
        std::size_t next = 0;
        std::uint64_t ready = 0;
    };
    std::uint8_t pacer() const { return static_cast<std::uint8_t>(layout_.cores + 2); }
    void pause(WarmTrace& out) {
        put(out, {layout_.pacer(number_++), pacer(), model::Kind::load, pause_});
        ++out.pauses;
    }
    void put(WarmTrace& out, const Step& step) {
        out.accesses.push_back({now_, step.line, step.core, static_cast<std::uint8_t>(step.kind), 0, 0});
        now_ += step.cycles;
    }

    const Layout& layout_;
    unsigned pause_;
    std::uint64_t quiet_;
    std::vector<std::vector<Step>> plans_;
    std::vector<Vcpu> vcpus_;
    std::uint64_t now_ = 0;
    unsigned number_ = 0;
};

/// A device's read may leave copies in S without an owner, although memory does not assume sharers. No
/// accesses of cores lead to this state. So this function makes memory assume sharers of these lines, in
/// `state` and in `assumed`.
std::uint64_t assume_missing_sharers(const Group& group, Hierarchy& state, std::vector<Line>& assumed) {
    std::vector<Line> missing;
    for (const auto& [line, copies] : group.sharers) {
        if (!group.owners.contains(line) && !std::binary_search(assumed.begin(), assumed.end(), line)) {
            missing.push_back(line);
        }
    }
    state.rebuild_sharers(missing);
    assumed.insert(assumed.end(), missing.begin(), missing.end());
    std::sort(assumed.begin(), assumed.end());
    return missing.size();
}

}  // namespace

WarmTrace rebuild(const model::Machine& machine, Hierarchy& state) {
    const Layout layout(machine, state.lines());
    const Names names(state.protocol());
    const model::Spares spares{kSpares, layout.vcpus};
    WarmTrace out;
    out.lines = layout.lines();
    out.spare_sets = layout.vcpus;

    std::vector<std::vector<Line>> assumed(layout.groups);
    for (const Line line : state.home().remembered()) {
        assumed[line % layout.groups].push_back(line);
    }
    std::vector<std::vector<Step>> plans;
    {
        Hierarchy made(machine, state.protocol(), layout.lines(), spares);
        Planner planner(layout, names, made);
        for (unsigned number = 0; number < layout.groups; ++number) {
            const Group group(layout, names, number, state);
            out.assumed += assume_missing_sharers(group, state, assumed[number]);
            plans.push_back(planner.plan(group, assumed[number]));
        }
    }
    Interleaver(layout, machine, std::move(plans)).write(out);

    Hierarchy made(machine, state.protocol(), layout.lines(), spares);
    for (const Access& access : out.accesses) {
        made.access(access.processor, access.line, access.kind(), access.who());
    }
    if (const std::string wrong = difference(machine.cores(), state, made); !wrong.empty()) {
        throw model::Error("the warm state was not rebuilt: " + wrong);
    }
    return out;
}

}  // namespace s80::replay
