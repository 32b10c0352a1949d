// SPDX-License-Identifier: GPL-2.0-or-later
#include "drawn.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace s80::reference {

namespace {

constexpr std::uint64_t kDefaultSeed = 80;
constexpr Line kLineRange = 4096;
constexpr unsigned kMaxProcessors = 32;
constexpr unsigned kMaxCores = 18;
constexpr unsigned kMostAgents = 31;  ///< cores and group caches, where memory remembers sharers
constexpr unsigned kMostWays = 16;

class Dice {
public:
    explicit Dice(const rc::Random& random) : random_(random) {}
    unsigned below(unsigned n) { return static_cast<unsigned>(random_.next() % n); }
    bool percent(unsigned chance) { return below(100) < chance; }
    unsigned one_of(std::initializer_list<unsigned> choices) {
        return choices.begin()[below(static_cast<unsigned>(choices.size()))];
    }

private:
    rc::Random random_;
};

Machine draw_machine(Dice& dice, const Wanted& wanted) {
    const auto shape = [&] { return Shape{dice.one_of({1, 2, 4}), 1 + dice.below(4)}; };
    Machine m;
    m.organisation = wanted.organisation;
    m.threads_per_core = wanted.cores != 0 ? 1 : 1 + dice.below(2);
    const unsigned most = std::min(kMaxCores, kMaxProcessors / m.threads_per_core);
    m.cores = wanted.cores != 0  ? wanted.cores
              : dice.percent(60) ? 1 + dice.below(4)
              : dice.percent(30) ? most
                                 : 1 + dice.below(most);
    m.l1i = shape();
    m.l1d = shape();
    m.l2 = shape();
    // No two alike, so that a stall names its service.
    m.l2_hit = 8;
    m.memory = 110;
    m.cache = 120;
    m.upgrade = 60;
    m.llc_hit = 40;
    m.group_hit = 20;
    if (wanted.llc) {
        m.llc = Shape{dice.one_of({1, 2, 4, 8}), 1 + dice.below(8)};
    }
    if (wanted.directory) {
        m.directory = Shape{dice.one_of({1, 2, 4, 8}), 1 + dice.below(8)};
    }
    if (wanted.groups) {
        m.group = shape();
        do {
            m.group_cores = 1 + dice.below(m.cores);
        } while (m.cores % m.group_cores != 0 || m.agents() > kMostAgents);
    }
    return m;
}

std::vector<Line> draw_lines(Dice& dice, const Machine& machine) {
    const unsigned capacity = machine.l2.sets * machine.l2.ways + machine.l1d.sets * machine.l1d.ways;
    std::vector<Line> lines(2 + dice.below(2 * capacity));
    for (Line& line : lines) {
        line = dice.below(kLineRange);
    }
    return lines;
}

Case draw(const rc::Random& random, const Wanted& wanted) {
    Dice dice(random);
    Case c;
    c.machine = draw_machine(dice, wanted);
    const std::vector<Line> lines = draw_lines(dice, c.machine);
    const auto count = static_cast<unsigned>(lines.size());
    const unsigned processors = c.machine.cores * c.machine.threads_per_core;
    const unsigned stores = dice.one_of({5, 20, 50});
    const unsigned fetches = dice.one_of({0, 10, 40});
    const unsigned walks = dice.one_of({0, 10});
    const unsigned stays = dice.one_of({0, 30, 70});  // percent of accesses by the same processor as the last
    Access access;
    for (std::size_t i = 0; i < wanted.accesses; ++i) {
        if (i == 0 || !dice.percent(stays)) {
            access.processor = dice.below(processors);
        }
        const unsigned kind = dice.below(100);
        access.kind = kind < stores                     ? Kind::store
                      : kind < stores + fetches         ? Kind::ifetch
                      : kind < stores + fetches + walks ? Kind::walk
                                                        : Kind::load;
        access.line = lines[std::min(dice.below(count), dice.below(count))];  // the first lines most often
        access.privilege = dice.below(2);
        access.process_class = dice.below(6);
        c.accesses.push_back(access);
    }
    if (wanted.roomy) {
        const Shape all{kLineRange / kMostWays, kMostWays};  // as many blocks as there are lines
        c.machine.l2 = all;
        if (wanted.llc) {
            c.machine.llc = all;
        }
    }
    return c;
}

rc::Seq<Case> shorter(const Case& c) {
    const Machine machine = c.machine;
    return rc::seq::map(rc::shrink::removeChunks(c.accesses), [machine](std::vector<Access> accesses) {
        return Case{machine, std::move(accesses)};
    });
}

}  // namespace

rc::Gen<Case> cases(const Wanted& wanted) {
    return [wanted](const rc::Random& random, int) {
        return rc::shrinkable::shrinkRecur(draw(random, wanted), [](const Case& c) { return shorter(c); });
    };
}

std::optional<std::string> counterexample(const std::string& name, const Wanted& wanted, int count,
                                          const std::function<std::optional<std::string>(const Case&)>& law) {
    rc::detail::TestMetadata metadata;
    metadata.id = metadata.description = name;
    rc::detail::TestParams params;
    params.seed = seed();
    params.maxSuccess = count;
    const auto result = rc::detail::checkTestable(
        [&] {
            const Case c = *cases(wanted);
            if (const auto broken = law(c)) {
                RC_FAIL(*broken);
            }
        },
        metadata, params);
    if (result.template is<rc::detail::SuccessResult>()) {
        return std::nullopt;
    }
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    text << "\nseed " << params.seed << " (S80_SEED sets another)";
    return text.str();
}

std::uint64_t seed() {
    const char* const set = std::getenv("S80_SEED");
    return set == nullptr ? kDefaultSeed : std::strtoull(set, nullptr, 10);
}

}  // namespace s80::reference
