// SPDX-License-Identifier: GPL-2.0-or-later
#include "warm/contents.h"

#include <algorithm>

namespace s80::replay {

using model::Cache;
using model::Hierarchy;
using model::Line;

namespace {

constexpr Place kAll[kPlaces] = {Place::l1i, Place::l1d, Place::l2};

std::string text(const std::vector<Copy>& set, const model::Protocol& protocol) {
    std::string out;
    for (const Copy& copy : set) {
        out +=
            (out.empty() ? "" : ", ") + std::to_string(copy.line) + " in " + protocol.state(copy.state).name;
    }
    return out.empty() ? "no line" : out;
}

}  // namespace

const char* place_name(Place place) {
    switch (place) {
        case Place::l1i: return "l1i";
        case Place::l1d: return "l1d";
        default: return "l2";
    }
}

const Cache& cache_of(const model::CoreCaches& core, Place place) {
    switch (place) {
        case Place::l1i: return core.l1i;
        case Place::l1d: return core.l1d;
        default: return core.l2;
    }
}

std::vector<Copy> contents(const Cache& cache, Line set) {
    std::vector<Copy> lines;
    cache.each_oldest_first(set, [&](Cache::Slot slot) {
        lines.push_back({cache.line(slot), cache.block(slot).state});
    });
    return lines;
}

void Census::add(unsigned cores, const Hierarchy& hierarchy) {
    for (unsigned c = 0; c < cores; ++c) {
        for (const Place place : kAll) {
            const Cache& cache = cache_of(hierarchy.caches().core(c), place);
            for (Line set = 0; set < cache.sets(); ++set) {
                for (const Copy& copy : contents(cache, set)) {
                    ++lines_[static_cast<unsigned>(place)][copy.state];
                }
            }
        }
    }
}

std::string Census::json() const {
    std::string out = "{";
    for (const Place place : kAll) {
        out += std::string(out.size() > 1 ? "," : "") + "\"" + place_name(place) + "\":{";
        bool first = true;
        for (unsigned s = 0; s < protocol_.states(); ++s) {
            if (const std::uint64_t lines = lines_[static_cast<unsigned>(place)][s]; lines != 0) {
                out += (first ? "\"" : ",\"") + protocol_.state(static_cast<model::State>(s)).name +
                       "\":" + std::to_string(lines);
                first = false;
            }
        }
        out += '}';
    }
    return out + '}';
}

std::string difference(unsigned cores, const Hierarchy& wanted, const Hierarchy& made) {
    for (unsigned c = 0; c < cores; ++c) {
        for (const Place place : kAll) {
            const Cache& mine = cache_of(wanted.caches().core(c), place);
            for (Line set = 0; set < mine.sets(); ++set) {
                const auto before = contents(mine, set);
                const auto after = contents(cache_of(made.caches().core(c), place), set);
                if (before != after) {
                    return "set " + std::to_string(set) + " of core " + std::to_string(c) + "'s " +
                           place_name(place) + " has " + text(after, wanted.protocol()) + " instead of " +
                           text(before, wanted.protocol());
                }
            }
        }
    }
    for (unsigned c = cores; c < made.caches().cores(); ++c) {
        for (const Place place : kAll) {
            std::string kept;
            cache_of(made.caches().core(c), place).each_line([&](Line line) {
                if (line < wanted.lines()) {
                    kept = "the spare core " + std::to_string(c) + " holds line " + std::to_string(line);
                }
            });
            if (!kept.empty()) {
                return kept;
            }
        }
    }
    // The memory of `made` also has dummy lines, which `wanted` does not have. Their numbers are above those
    // of all lines of `wanted`; they are left out.
    auto after = made.home().remembered();
    std::erase_if(after, [&](Line line) { return line >= wanted.lines(); });
    if (after != wanted.home().remembered()) {
        return "memory assumes sharers of other lines";
    }
    return "";
}

}  // namespace s80::replay
