// SPDX-License-Identifier: GPL-2.0-or-later
#include "pair.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "timing/merger.h"

namespace s80::reference {

namespace {

constexpr unsigned kLineBytes = 64;
constexpr std::size_t kAllLinesEvery = 64;  ///< accesses between two looks at every line of every core

std::uint64_t g_compared = 0;

const char* kind_name(Kind kind) {
    static const char* const names[] = {"ifetch", "load", "store", "walk"};
    return names[static_cast<unsigned>(kind)];
}

std::string show(const Access& access) {
    std::ostringstream out;
    out << access.processor << ' ' << kind_name(access.kind) << ' ' << access.line;
    return out.str();
}

model::Context context(const Access& access) {
    return {static_cast<model::Privilege>(access.privilege),
            static_cast<model::ProcessClass>(access.process_class)};
}

/// The model, driven as the machine's threads ask: processors through the merger, or a core's accesses
/// directly.
class Driven {
public:
    Driven(const Machine& machine, const model::Protocol& protocol, std::size_t lines)
        : hierarchy(model_machine(machine), protocol, lines),
          merger_(hierarchy),
          epoch_(machine.cores * machine.threads_per_core),
          threads_(machine.threads_per_core) {}

    unsigned access(const Access& access) {
        if (threads_ == 1) {
            return hierarchy
                .access(access.processor, access.line, static_cast<model::Kind>(access.kind), context(access))
                .stall;
        }
        const auto before = hierarchy.stats().sum(model::Stat::stall_cycles);
        play(access);
        return static_cast<unsigned>(hierarchy.stats().sum(model::Stat::stall_cycles) - before);
    }

    model::Hierarchy hierarchy;

private:
    /// A epoch in which that processor alone runs, for this access alone.
    void play(const Access& access) {
        model::Stream& stream = epoch_.streams[access.processor];
        stream.ran = stream.runs_on = true;
        stream.events.resize(1);
        stream.size = 1;
        stream.events[0] = event(access);
        merger_.play(epoch_);
        stream.ran = stream.runs_on = false;
        stream.size = 0;
    }

    model::TimingMerger merger_;
    model::Epoch epoch_;
    unsigned threads_;
};

class Comparison {
public:
    Comparison(const Case& c, const model::Protocol& protocol, const Table& table)
        : case_(c),
          protocol_(protocol),
          reference_(Hierarchy::make(c.machine, table)),
          model_(c.machine, protocol, lines(c)) {
        for (const Access& access : c.accesses) {
            lines_.insert(access.line);
        }
    }

    std::optional<std::string> run() {
        for (std::size_t i = 0; i < case_.accesses.size(); ++i) {
            const Access& access = case_.accesses[i];
            const unsigned theirs = model_.access(access);
            const unsigned ours = reference_->access(access);
            ++g_compared;
            if (theirs != ours) {
                return at(i, "stall cycles", std::to_string(theirs), std::to_string(ours));
            }
            if (auto found = compare_line(i, access.line)) {
                return found;
            }
            if (i % kAllLinesEvery == 0 || i + 1 == case_.accesses.size()) {
                for (const Line line : lines_) {
                    if (auto found = compare_line(i, line)) {
                        return found;
                    }
                }
            }
        }
        return compare_statistics();
    }

private:
    std::string at(std::size_t i, const std::string& what, const std::string& model,
                   const std::string& reference) {
        return "after access " + std::to_string(i + 1) + " (" + show(case_.accesses[i]) + "): " + what +
               ": model " + model + ", reference " + reference;
    }

    std::optional<std::string> compare_line(std::size_t i, Line line) {
        for (unsigned core = 0; core < case_.machine.agents(); ++core) {
            const std::string& theirs = protocol_.state(model_.hierarchy.caches().state(core, line)).name;
            const std::string ours = reference_->state(core, line);
            if (theirs != ours) {
                return at(i, "state of line " + std::to_string(line) + " in core " + std::to_string(core),
                          theirs, ours);
            }
            if (case_.machine.home()) {
                const auto theirs_at_home =
                    protocol_.home_state(*model_.hierarchy.home().home_state(line)).name;
                const std::string ours_at_home = reference_->home_state_of(line);
                if (theirs_at_home != ours_at_home) {
                    return at(i, "home state of line " + std::to_string(line), theirs_at_home, ours_at_home);
                }
            }
            if (core >= case_.machine.cores) {
                continue;  // a group cache
            }
            const L1View instruction{model_.hierarchy.caches().in_l1(core, line, true), false};
            const L1View data{model_.hierarchy.caches().in_l1(core, line, false),
                              model_.hierarchy.caches().l1_writable(core, line)};
            if (instruction != reference_->l1i(core, line)) {
                return l1_differs(i, "L1I", core, line, instruction, reference_->l1i(core, line));
            }
            if (data != reference_->l1d(core, line)) {
                return l1_differs(i, "L1D", core, line, data, reference_->l1d(core, line));
            }
        }
        return std::nullopt;
    }

    std::string l1_differs(std::size_t i, const char* l1, unsigned core, Line line, L1View theirs,
                           L1View ours) {
        const auto words = [](L1View view) {
            return view.writable ? "writable" : view.present ? "readable" : "absent";
        };
        return at(i, std::string(l1) + " of core " + std::to_string(core) + ", line " + std::to_string(line),
                  words(theirs), words(ours));
    }

    /// The model's values are flat and row-major, in the order of the dimensions.
    std::optional<std::string> compare_statistics() {
        for (const CountInfo& info : all_counts(case_.machine.home(), case_.machine.group.has_value())) {
            const auto stat = statistic(info.name);
            const auto values = model_.hierarchy.stats().values(stat);
            for (std::size_t flat = 0; flat < values.size(); ++flat) {
                Place place{};
                std::size_t rest = flat;
                for (std::size_t d = info.extents.size(); d > 0; --d) {
                    place[d] = static_cast<unsigned>(rest % info.extents[d - 1]);
                    rest /= info.extents[d - 1];
                }
                place[0] = static_cast<unsigned>(rest);
                if (const auto ours = reference_->counts().value(info.count, place); values[flat] != ours) {
                    return at(case_.accesses.size() - 1,
                              std::string(info.name) + words(model::info(stat), place),
                              std::to_string(values[flat]), std::to_string(ours));
                }
            }
        }
        return std::nullopt;
    }

    std::string words(const model::StatInfo& info, const Place& place) const {
        std::string text;
        for (unsigned d = 0; d < info.rank; ++d) {
            const auto labels = model_.hierarchy.stats().dimensions().labels(info.dim[d]);
            text += ' ';
            text += labels.empty() ? "core " + std::to_string(place[d]) : std::string(labels[place[d]]);
        }
        return text;
    }

    const Case& case_;
    const model::Protocol& protocol_;
    std::set<Line> lines_;
    std::unique_ptr<Hierarchy> reference_;
    Driven model_;
};

}  // namespace

const char* organisation_name(Organisation organisation) {
    switch (organisation) {
        case Organisation::inclusive: return "inclusive";
        case Organisation::exclusive_gem5: return "exclusive";
        case Organisation::exclusive_textbook: return "exclusive-textbook";
        default: return "inclusive-gem5";
    }
}

void showValue(const Case& c, std::ostream& out) {
    const Machine& m = c.machine;
    const auto shape = [&](const char* name, const Shape& s) {
        out << ", " << name << ' ' << s.sets << " sets x " << s.ways << " ways";
    };
    out << m.cores << " cores, " << m.threads_per_core << " threads a core";
    shape("L1I", m.l1i);
    shape("L1D", m.l1d);
    shape("L2", m.l2);
    if (m.group) {
        out << ", groups of " << m.group_cores;
        shape("group cache", *m.group);
    }
    if (m.llc) {
        shape("LLC", *m.llc);
    }
    if (m.directory) {
        shape("directory", *m.directory);
    }
    out << ", " << organisation_name(m.organisation) << "; processor, access, line:\n";
    for (const Access& access : c.accesses) {
        out << "  " << show(access) << '\n';
    }
}

model::Machine model_machine(const Machine& machine) {
    const auto geometry = [](const Shape& shape) {
        return model::CacheGeometry{static_cast<std::uint64_t>(shape.sets) * shape.ways * kLineBytes,
                                    shape.ways};
    };
    model::Machine m;
    m.name = "drawn";
    m.processors = machine.cores * machine.threads_per_core;
    m.threads_per_core = machine.threads_per_core;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = kLineBytes;
    m.l1i = geometry(machine.l1i);
    m.l1d = geometry(machine.l1d);
    m.l2 = geometry(machine.l2);
    m.l2_inclusion = organisation_name(machine.organisation);
    m.latency = {machine.l2_hit,  machine.memory,  machine.cache,
                 machine.upgrade, machine.llc_hit, machine.group_hit};
    if (machine.group) {
        m.group = model::Group{machine.group_cores, geometry(*machine.group)};
    }
    if (machine.llc) {
        m.llc = model::SlicedGeometry{geometry(*machine.llc)};
    }
    if (machine.directory) {
        m.directory = model::SlicedGeometry{geometry(*machine.directory)};
    }
    m.check("the drawn machine");
    return m;
}

model::Event event(const Access& access) {
    model::Event e;
    e.line = access.line;
    e.op = static_cast<model::Op>(access.kind);
    e.context = context(access);
    return e;
}

model::Stat statistic(const std::string& name) {
    for (unsigned s = 0; s < model::kStats; ++s) {
        if (model::info(static_cast<model::Stat>(s)).name == name) {
            return static_cast<model::Stat>(s);
        }
    }
    throw std::logic_error("the model has no statistic named " + name);
}

std::size_t lines(const Case& c) {
    Line highest = 0;
    for (const Access& access : c.accesses) {
        highest = std::max(highest, access.line);
    }
    return highest + std::size_t{1};
}

std::optional<std::string> difference(const Case& c, const model::Protocol& protocol, const Table& table) {
    Comparison comparison(c, protocol, table);
    try {
        return comparison.run();
    } catch (const Unsound& unsound) {
        return std::string("reference: ") + unsound.what();
    } catch (const model::Error& error) {
        return std::string("model: ") + error.what();
    }
}

std::uint64_t compared() {
    return g_compared;
}

}  // namespace s80::reference
