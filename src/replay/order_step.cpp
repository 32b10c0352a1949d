// SPDX-License-Identifier: GPL-2.0-or-later
// The commands `step` and `count` of s80-step: play a totally ordered trace access by access.
#include <cstdio>

#include "base/json.h"
#include "checkpoint/state_file.h"
#include "memory/machine_keys.h"
#include "replay/order_commands.h"
#include "replay/order_count.h"
#include "replay/order_observe.h"
#include "stats/statistics.h"
#include "timing/merger.h"

namespace s80::replay {

namespace {

class Json {
public:
    explicit Json(const model::Protocol& protocol) : protocol_(protocol) {}

    std::string held(const Held& h) const {
        std::string where = h.l1i ? "L1I" : "";
        for (const auto& [there, name] : {std::pair{h.l1d, "L1D"}, {h.l2, "L2"}}) {
            where += !there ? "" : where.empty() ? name : std::string("+") + name;
        }
        return R"({"state":")" + protocol_.state(h.state).name + R"(","where":")" + where + R"("})";
    }

    std::string change(const Change& c) const {
        return R"({"core":)" + std::to_string(c.core) + R"(,"line":)" + std::to_string(c.line) +
               R"(,"before":)" + held(c.before) + R"(,"after":)" + held(c.after) + "}";
    }

    std::string changes(const std::vector<Change>& all) const {
        std::string out;
        for (const Change& c : all) {
            out += (out.empty() ? "" : ",") + change(c);
        }
        return "[" + out + "]";
    }

    std::string moved(const GroupMove& m) const {
        return R"({"line":)" + std::to_string(m.line) + R"(,"from":)" + std::to_string(m.from) + R"(,"to":)" +
               (m.to == model::kNobody ? "null" : std::to_string(m.to)) + R"(,"state":")" +
               protocol_.state(m.state).name + R"("})";
    }

    std::string at_home(const AtHome& h) const {
        return R"({"event":")" + std::string(model::kHomeEventNames[static_cast<unsigned>(h.event)]) +
               R"(","line":)" + std::to_string(h.line) + R"(,"core":)" +
               (h.core == model::kNobody ? "null" : std::to_string(h.core)) + R"(,"before":")" +
               protocol_.home_state(h.before).name + R"(","after":")" + protocol_.home_state(h.after).name +
               R"(","recalled":)" + changes(h.recalled) + "}";
    }

private:
    const model::Protocol& protocol_;
};

std::string line_of(std::size_t n, const Access& access, const Effect& e, const model::Protocol& protocol) {
    const Json json(protocol);
    std::string out = R"({"n":)" + std::to_string(n) + R"(,"tick":)" + std::to_string(access.tick) +
                      R"(,"processor":)" + std::to_string(access.processor) + R"(,"core":)" +
                      std::to_string(e.core) + R"(,"op":")" + std::string(model::label(e.kind)) +
                      R"(","line":)" + std::to_string(e.line) + R"(,"missed":)" +
                      (e.missed ? "true" : "false") + R"(,"bus":")" + bus_name(e.bus) + R"(","stall":)" +
                      std::to_string(e.stall) + R"(,"supplier":)";
    out += e.supplier ? std::to_string(*e.supplier) : "null";
    std::string home;
    if (e.has_home) {
        home = std::string(R"(,"from_llc":)") + (e.from_llc ? "true" : "false") + R"(,"after_recall":)" +
               (e.after_recall ? "true" : "false") + R"(,"home":)" +
               model::array(e.at_home, [&](const AtHome& one) { return json.at_home(one); });
    }
    if (e.has_groups) {
        home += std::string(R"(,"from_group":)") + (e.from_group ? "true" : "false") + R"(,"group":)" +
                model::array(e.group, [&](const GroupMove& one) { return json.moved(one); });
    }
    return out + R"(,"before":)" + json.held(e.before) + R"(,"after":)" + json.held(e.after) +
           R"(,"remote":)" + json.changes(e.remote) + R"(,"moved":)" + json.changes(e.moved) + home + "}";
}

/// Plays the trace of the option `order`, and calls `fn` for each access. The option `spare_cores` is for
/// traces from the command `rebuild`, which bring cold caches into a given state. Their accesses name cores,
/// not processors. To reach the state, some of the accesses are by spare cores, which only exist while such
/// a trace is played (Spares in memory/hierarchy.h).
template <class Fn>
void play(const Options& options, Fn&& fn) {
    auto machine = model::Machine::load(options.need("machine"));
    const auto protocol = model::Protocol::load(options.need("protocol"));
    const model::Spares spares{static_cast<unsigned>(options.number("spare_cores", 0)),
                               static_cast<unsigned>(options.number("spare_sets", 2))};
    if (spares.cores != 0) {
        machine.processors = machine.cores();
        machine.threads_per_core = 1;
    }
    auto all = machine;
    all.processors += spares.cores;
    const auto order = read_order(options.need("order"), all, model::kNoLine);
    model::Hierarchy hierarchy(machine, protocol, options.number("lines", lines_of(order)), spares);
    model::TimingMerger merger(hierarchy);
    if (const std::string state = options.text("state", ""); !state.empty()) {
        model::load_state(state, hierarchy, merger);
    }
    Observed observed(hierarchy);
    for (std::size_t n = 0; n < order.size(); ++n) {
        fn(n, order[n], observed.access(order[n]), hierarchy.protocol());
    }
    if (const std::string save = options.text("save", ""); !save.empty()) {
        model::save_state(save, hierarchy, merger, {});
    }
}

}  // namespace

void step_order(const Options& options) {
    play(options,
         [](std::size_t n, const Access& access, const Effect& effect, const model::Protocol& protocol) {
             std::puts(line_of(n, access, effect, protocol).c_str());
         });
}

void count_order(const Options& options) {
    const auto protocol = model::Protocol::load(options.need("protocol"));
    Counts counts(protocol);
    play(options, [&](std::size_t, const Access&, const Effect& effect, const model::Protocol&) {
        counts.add(effect);
    });
    std::puts(counts.json().c_str());
}

void print_vocabulary(const Options&) {
    const char* const between = ",\n";
    std::puts(('{' + model::vocabulary(model::Dimensions(0, true, true), between) +
               ",\"texts\":" + model::label_texts(between) + '}')
                  .c_str());
}

void print_machine_keys(const Options&) {
    std::fputs(model::machine_keys_json().c_str(), stdout);
}

}  // namespace s80::replay
