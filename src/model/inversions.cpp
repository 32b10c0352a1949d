// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/inversions.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace s80::model {

namespace {

constexpr std::size_t kFirstTable = std::size_t{1} << 14;

}  // namespace

void Inversions::Latest::add(Turn turn) {
    if (turns[0].processor == turn.processor) {
        turns[0].number = std::max(turns[0].number, turn.number);
    } else if (turns[0].processor == kMaxCores || turn.number > turns[0].number) {
        turns[1] = std::exchange(turns[0], turn);
    } else if (turns[1].processor == turn.processor) {
        turns[1].number = std::max(turns[1].number, turn.number);
    } else if (turns[1].processor == kMaxCores || turn.number > turns[1].number) {
        turns[1] = turn;
    }
}

Inversions::Turn Inversions::Latest::other(unsigned processor) const {
    return turns[0].processor == processor ? turns[1] : turns[0];
}

Inversions::Inversions(Hierarchy& hierarchy, std::string path)
    : hierarchy_(hierarchy),
      path_(std::move(path)),
      table_(kFirstTable),
      turn_(hierarchy.machine().processors, 0),
      before_(all_transfers()) {}

void Inversions::event(unsigned processor, const Event& event, std::int64_t) {
    settle();
    if (event.op == Op::turn) {
        turn_[processor] = event.line;
    }
    if (event.op > Op::walk) {
        return;
    }
    const bool store = event.op == Op::store;
    const std::uint32_t turn = turn_[processor];
    Seen& line = seen(event.line);
    const Turn other = (store ? line.accesses : line.stores).other(processor);
    ++counts_.accesses;
    if (other.processor != kMaxCores) {
        ++counts_.conflicting;
        if (other.number > turn) {
            ++counts_.inverted;
            const unsigned core = processor / hierarchy_.machine().threads_per_core;
            const Kind kind = static_cast<Kind>(event.op);
            pending_ = {true, core, event.context, kind, transfers(core, event.context, kind)};
        }
    }
    line.accesses.add({turn, processor});
    if (store) {
        line.stores.add({turn, processor});
    }
}

void Inversions::end(const Window& window) {
    settle();
    std::fill(turn_.begin(), turn_.end(), 0);
    ++window_;
    used_ = 0;
    if (window.mark == Mark::measure_begin) {
        counts_ = {};
        before_ = all_transfers();
    } else if (!written_ && (window.mark == Mark::measure_end || window.mark == Mark::exit)) {
        const Transfers now = all_transfers();
        counts_.transfers = {now.cache - before_.cache, now.upgrade - before_.upgrade};
        write();
        written_ = true;
    }
}

/// What the inverted access before this one took.
void Inversions::settle() {
    if (!pending_.is) {
        return;
    }
    pending_.is = false;
    const Transfers now = transfers(pending_.core, pending_.context, pending_.kind);
    const unsigned privilege = pending_.context.group() / kParties;
    for (Transfers* const sum :
         {&counts_.inverted_transfers, &counts_.by[privilege][static_cast<unsigned>(pending_.kind)]}) {
        sum->cache += now.cache - pending_.before.cache;
        sum->upgrade += now.upgrade - pending_.before.upgrade;
    }
}

Inversions::Transfers Inversions::transfers(unsigned core, Context context, Kind kind) const {
    Statistics& stats = hierarchy_.stats();
    Transfers sum;
    for (const Source source : {Source::M, Source::O, Source::E, Source::S}) {
        sum.cache += stats.source(core, context, kind, source);
    }
    sum.upgrade = kind == Kind::store ? stats.group(Stat::upgrades, core, context) : 0;
    return sum;
}

Inversions::Transfers Inversions::all_transfers() const {
    const Statistics& stats = hierarchy_.stats();
    Transfers sum{0, stats.sum(Stat::upgrades)};
    const auto sources = stats.values(Stat::miss_source);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        sum.cache += i % kSources == static_cast<unsigned>(Source::memory) ? 0 : sources[i];
    }
    return sum;
}

Inversions::Seen& Inversions::seen(Line line) {
    if (used_ * 2 >= table_.size()) {
        grow();
    }
    constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;
    for (std::size_t at = line * kMultiplier >> 32;; ++at) {
        Seen& entry = table_[at & (table_.size() - 1)];
        if (entry.window == window_ && entry.line == line) {
            return entry;
        }
        if (entry.window != window_) {
            entry = {line, window_, {}, {}};
            ++used_;
            return entry;
        }
    }
}

void Inversions::grow() {
    const std::vector<Seen> old = std::exchange(table_, std::vector<Seen>(table_.size() * 2));
    used_ = 0;
    for (const Seen& entry : old) {
        if (entry.window == window_) {
            seen(entry.line) = entry;
        }
    }
}

void Inversions::write() const {
    const auto text = [](const Transfers& t) {
        return "{\"cache\":" + std::to_string(t.cache) + ",\"upgrade\":" + std::to_string(t.upgrade) + "}";
    };
    std::ostringstream out;
    out << "{\"schema\":1,\"accesses\":" << counts_.accesses << ",\"conflicting\":" << counts_.conflicting
        << ",\"inverted\":" << counts_.inverted << ",\"transfers\":" << text(counts_.transfers)
        << ",\"inverted_transfers\":" << text(counts_.inverted_transfers) << ",\"by\":{";
    const auto privileges = labels(Dim::privilege);
    const auto kinds = labels(Dim::kind);
    for (unsigned p = 0; p < kPrivileges; ++p) {
        out << (p == 0 ? "" : ",") << '"' << privileges[p] << "\":{";
        for (unsigned k = 0; k < kKinds; ++k) {
            out << (k == 0 ? "" : ",") << '"' << kinds[k] << "\":" << text(counts_.by[p][k]);
        }
        out << '}';
    }
    out << "}}\n";
    std::ofstream file(path_);
    if (!(file << out.str() << std::flush)) {
        throw Error("cannot write " + path_ + ": " + std::strerror(errno));
    }
}

}  // namespace s80::model
