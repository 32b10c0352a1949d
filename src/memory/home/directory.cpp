// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/home/directory.h"

#include <algorithm>
#include <string>

namespace s80::model {

namespace {

std::optional<SlicedCache> tags(const std::optional<SlicedGeometry>& geometry, unsigned line_bytes,
                                const char* purpose) {
    return geometry ? std::optional<SlicedCache>(std::in_place, *geometry, line_bytes, purpose)
                    : std::nullopt;
}

HomeEvent event_of(Bus bus, Kind kind) {
    switch (bus) {
        case Bus::read: return kind == Kind::ifetch ? HomeEvent::fetch : HomeEvent::read;
        case Bus::rfo: return HomeEvent::rfo;
        default: return HomeEvent::upgrade;
    }
}

void check(const Machine& machine, const Protocol& protocol) {
    const std::string both = "machine " + machine.name + " with protocol " + protocol.name() + ": ";
    const std::string change = "; choose another protocol, or ";
    if (!protocol.has_home()) {
        throw Error(both + "the protocol has no [home], which [llc] and [directory] of a machine need" +
                    change + "remove the tables from the machine");
    }
    if (protocol.has_llc() != machine.llc.has_value()) {
        throw Error(both +
                    (machine.llc
                         ? "no home state of the protocol has data, so it cannot use the machine's [llc]" +
                               change + "remove [llc]"
                         : "the protocol needs a last-level cache" + change + "add [llc] to the machine"));
    }
    if (machine.directory && !protocol.directory_recalls()) {
        throw Error(both +
                    "the protocol has no row [home.recall], so its directory cannot have a bounded number of "
                    "entries" +
                    change + "remove [directory]");
    }
}

}  // namespace

DirectoryHome::DirectoryHome(const HomeParts& parts)
    : Home(parts),
      llc_(tags(parts.machine.llc, parts.machine.line_bytes, "the tags of the last-level cache")),
      entries_(tags(parts.machine.directory, parts.machine.line_bytes, "the directory")),
      states_(parts.sharers.lines(), parts.protocol.home_absent()),
      recalled_{Sharers(parts.sharers.lines(), parts.machine.agents()),
                Sharers(parts.sharers.lines(), parts.machine.agents())},
      interconnect_(parts.machine) {
    check(parts.machine, parts.protocol);
}

/// Tells the interconnect the time of this access, once. The interconnect then writes back the blocks that
/// the access before evicted, before this access makes requests.
void DirectoryHome::take_note_of_time() {
    if (moved_on_) {
        moved_on_ = false;
        interconnect_.now(now_, parts_.stats);
    }
}

const HomeCell& DirectoryHome::cell(HomeEvent event, Line line) const {
    const HomeCell& cell = parts_.protocol.home(event, states_.state(line));
    if (!cell.possible) [[unlikely]] {
        throw Error("protocol " + parts_.protocol.name() + ": the home met the impossible cell home." +
                    kHomeEventNames[static_cast<unsigned>(event)] + "." + info(line).name + " (line " +
                    std::to_string(line) + ")");
    }
    return cell;
}

Reply DirectoryHome::request(const Access& a, Bus bus, Outcome& outcome) {
    take_note_of_time();
    if (entries_) {
        track(a.line, a.context.process_class());
    }
    const HomeEvent event = event_of(bus, a.kind);
    const HomeCell& home = cell(event, a.line);
    const bool holds = parts_.sharers.cores(a.line).has(a.core);
    bool written_back = false;
    Reply reply;
    if (home.first && bus == Bus::read) {
        reply = answer_alone(a, bus, outcome);
    } else {
        reply = snoop(
            a, bus, outcome, [&] { written_back = true; }, !home.first);
    }
    const bool supplies = home.supply && outcome.supplier == kNobody;
    const HomeState next = home.after(reply.shared, written_back);
    reply.shared = reply.shared || home.grants_shared;
    if (supplies && home.gives) {
        reply.gives = true;
        reply.given = home.given;
    }
    parts_.sharers.add(a.line, a.core);
    update_home(a, event, home, next, written_back);
    if (holds) {
        outcome.place = Place::l2;
        outcome.stall = parts_.topology.upgrade(a.core) + interconnect_.bus(parts_.stats);
    } else {
        count_after_recall(a, outcome);
        charge_miss(a, supplies, outcome);
    }
    return reply;
}

/// What a request changes at the home: the line goes to `next`, and its block may go to memory or enter the
/// last-level cache. `written_back`: a private cache wrote its copy back.
void DirectoryHome::update_home(const Access& a, HomeEvent event, const HomeCell& home, HomeState next,
                                bool written_back) {
    const ProcessClass process_class = a.context.process_class();
    const bool had_data = info(a.line).data;
    if (home.writeback) {
        ++parts_.stats.llc_block(LlcEvent::writeback, process_class);
    }
    if (home.writeback || (written_back && !parts_.protocol.home_state(next).data)) {
        interconnect_.copied_to_memory(parts_.stats, a.line);
    }
    if (had_data) {
        if (const Cache::Slot slot = llc_->find(a.line)) {
            llc_->touch(a.line, slot);
        }
    }
    play(event, a.line, next, a.core);
    if (!had_data && info(a.line).data) {
        fill_llc(a.line, process_class);
    }
}

/// Fills in the place that sends the data of a miss, and the stall. `supplies`: the last-level cache sends
/// the data.
void DirectoryHome::charge_miss(const Access& a, bool supplies, Outcome& outcome) {
    Statistics& stats = parts_.stats;
    if (outcome.supplier != kNobody) {
        outcome.place = Place::peer;
        outcome.stall = parts_.topology.transfer(a.core, outcome.supplier) + interconnect_.bus(stats);
    } else if (supplies) {
        outcome.place = Place::llc;
        outcome.stall = parts_.topology.llc(a.core) + interconnect_.bus(stats);
    } else {
        outcome.place = Place::memory;
        outcome.stall = parts_.topology.memory(a.core) + interconnect_.bus_and_memory(stats, a.line);
    }
}

/// The last-level cache answers a read alone: the copies in private caches do not see the request.
Reply DirectoryHome::answer_alone(const Access& a, Bus bus, Outcome& outcome) const {
    outcome.request = bus;
    outcome.had_copies = parts_.sharers.cores(a.line).without(a.core);
    return {.shared = !outcome.had_copies.empty()};
}

void DirectoryHome::count_after_recall(const Access& a, Outcome& outcome) {
    CoreSet mine = CoreSet::only(a.core);
    if (parts_.machine.group) {
        mine.add(parts_.machine.group_cache(a.core));
    }
    for (unsigned n = 0; n < kRecallCauses; ++n) {
        if (const CoreSet lost = recalled_[n].cores(a.line) & mine; !lost.empty()) {
            for (const unsigned agent : lost) {
                recalled_[n].remove(a.line, agent);
            }
            // A miss counts once, although the core and its group cache may have lost the line by two causes.
            if (!outcome.after_recall) {
                outcome.after_recall = true;
                ++parts_.stats.miss_after_recall(a.core, a.context, a.kind, static_cast<RecallCause>(n));
            }
        }
    }
}

void DirectoryHome::evicted(unsigned core, Line line, Block block) {
    const OwnCell& own = parts_.protocol.own(OwnEvent::evict, block.state);
    parts_.sharers.remove(line, core);
    if (!own.put) {
        return;
    }
    const bool had_data = info(line).data;
    const HomeEvent event = parts_.protocol.put_event(block.state);
    const HomeState next = cell(event, line).after(!parts_.sharers.cores(line).empty(), own.writeback);
    play(event, line, next, static_cast<CoreNumber>(core));
    const bool has_data = info(line).data;
    if (has_data && !had_data) {
        waiting_.push_back({line, static_cast<ProcessClass>(block.process_class)});
    }
    if (own.writeback || (has_data && !had_data)) {
        take_note_of_time();
        interconnect_.evicted(line, has_data ? Interconnect::Way::bus : Interconnect::Way::both);
    }
}

void DirectoryHome::settle() {
    // fill_llc() may displace a line to memory, but adds nothing to waiting_.
    for (const Waiting& waiting : waiting_) {
        if (info(waiting.line).data && !llc_->find(waiting.line)) {
            fill_llc(waiting.line, waiting.process_class);
        }
    }
    waiting_.clear();
    free_entries();
}

/// A device reads the line. For the private copies this is like a read of another core, but no cache gets the
/// line.
void DirectoryHome::device_read(Line line) {
    const CoreSet sharers = parts_.sharers.cores(line);
    take_note_of_time();
    if (!sharers.empty()) {
        bool keep = false;
        bool written_back = false;
        const bool had_data = info(line).data;
        const HomeCell& home = cell(HomeEvent::read, line);
        for (const unsigned core : sharers) {
            const Snooped copy = parts_.caches.snoop(core, line, Bus::read);
            written_back |= copy.writes_back;
            keep |= copy.keeps;
            if (!copy.keeps) {
                parts_.sharers.remove(line, core);
            }
        }
        if (home.writeback) {
            ++parts_.stats.llc_block(LlcEvent::writeback, ProcessClass::other);
        }
        enter(line, home.after(keep, written_back));
        if (info(line).data && !had_data) {
            fill_llc(line, ProcessClass::other);
        }
        free_entries();
    }
    interconnect_.evicted(line, info(line).data ? Interconnect::Way::bus : Interconnect::Way::both);
}

/// A device writes the line. Its data replace all copies.
void DirectoryHome::device_write(Line line) {
    for (const unsigned core : parts_.sharers.cores(line)) {
        parts_.caches.invalidate(core, line);
        parts_.sharers.remove(line, core);
    }
    enter(line, parts_.protocol.home_absent());
    free_entries();
    take_note_of_time();
    interconnect_.evicted(line, Interconnect::Way::both);
}

/// Sets the home state of the line. Drops the line from the last-level cache if the new state needs no place
/// there. The line's entry of the directory becomes free when the access is over.
void DirectoryHome::enter(Line line, HomeState next) {
    const HomeStateInfo& before = info(line);
    const HomeStateInfo& after = parts_.protocol.home_state(next);
    states_.set(line, next);
    if (before.data && !after.data) {
        llc_->drop(line);
    }
    if (entries_ && before.tracked() && !after.tracked()) {
        untracked_.push_back(line);
    }
}

void DirectoryHome::free_entries() {
    for (const Line line : untracked_) {
        if (!info(line).tracked()) {
            entries_->drop(line);
        }
    }
    untracked_.clear();
}

/// Calls enter(), and tells the listener.
void DirectoryHome::play(HomeEvent event, Line line, HomeState next, CoreNumber core) {
    const HomeState before = states_.state(line);
    enter(line, next);
    if (MoveListener* const listener = parts_.caches.listener(); listener != nullptr) [[unlikely]] {
        listener->at_home(event, line, core, before, next);
    }
}

void DirectoryHome::fill_llc(Line line, ProcessClass process_class) {
    const Cache::Slot slot = llc_->place(line);
    if (const Line victim = llc_->victim(line, slot); victim != kNoLine) {
        displace(victim, process_class);
    }
    llc_->fill(line, slot);
    ++parts_.stats.llc_block(LlcEvent::fill, process_class);
}

void DirectoryHome::displace(Line line, ProcessClass process_class) {
    const HomeCell& home = cell(HomeEvent::displace, line);
    const bool newer = home.recall && recall(line, RecallCause::llc, process_class);
    ++parts_.stats.llc_block(LlcEvent::eviction, process_class);
    if (home.writeback) {
        ++parts_.stats.llc_block(LlcEvent::writeback, process_class);
    }
    if (home.writeback || newer) {
        interconnect_.evicted(line, Interconnect::Way::memory);
    }
    play(HomeEvent::displace, line, home.after(!parts_.sharers.cores(line).empty(), newer));
}

/// Gives the line an entry of the directory. Recalls the line that has to leave.
void DirectoryHome::track(Line line, ProcessClass process_class) {
    if (const Cache::Slot slot = entries_->find(line)) {
        entries_->touch(line, slot);
        return;
    }
    const Cache::Slot slot = entries_->place(line);
    const Line victim = entries_->victim(line, slot);
    if (victim != kNoLine && info(victim).tracked()) {
        const HomeCell& home = cell(HomeEvent::recall, victim);
        const bool had_data = info(victim).data;
        const bool newer = recall(victim, RecallCause::directory, process_class);
        if (home.writeback) {
            ++parts_.stats.llc_block(LlcEvent::writeback, process_class);
        }
        play(HomeEvent::recall, victim, home.after(false, newer));
        const bool has_data = info(victim).data;
        if (has_data && !had_data) {
            fill_llc(victim, process_class);
        }
        if (home.writeback || (newer && !has_data)) {
            interconnect_.evicted(victim, Interconnect::Way::memory);
        }
    }
    entries_->fill(line, slot);
}

/// Takes the line out of all private caches. Returns whether one of them wrote newer data back.
bool DirectoryHome::recall(Line line, RecallCause cause, ProcessClass process_class) {
    bool newer = false;
    ++parts_.stats.recall(cause, process_class);
    for (const unsigned core : parts_.sharers.cores(line)) {
        newer |= parts_.caches.recall(core, line, cause);
        parts_.sharers.remove(line, core);
        recalled_[static_cast<unsigned>(cause)].add(line, core);
    }
    return newer;
}

void DirectoryHome::host_prefetch(Line line, Line evicted) const {
    states_.host_prefetch(line);
    if (evicted != kNoLine) {
        states_.host_prefetch(evicted);
    }
    if (llc_) {
        llc_->host_prefetch(line);
    }
    if (entries_) {
        entries_->host_prefetch(line);
    }
}

/// The tags; then how many lines have a home state, and each as line + state x 2^32; then by cause how many
/// lines were recalled, and of each the line and its cores; then the interconnect.
std::vector<std::uint64_t> DirectoryHome::state() const {
    std::vector<std::uint64_t> words;
    const auto append = [&](const std::vector<std::uint64_t>& section) {
        words.insert(words.end(), section.begin(), section.end());
    };
    for (const auto* part : {&llc_, &entries_}) {
        if (*part) {
            append((*part)->state());
        }
    }
    std::size_t count = words.size();
    words.push_back(0);
    states_.each([&](Line line, HomeState state) {
        words.push_back(line | std::uint64_t{state} << 32);
        ++words[count];
    });
    for (const Sharers& recalled : recalled_) {
        count = words.size();
        words.push_back(0);
        for (Line line = 0; line < recalled.lines(); ++line) {
            if (const CoreSet cores = recalled.cores(line); !cores.empty()) {
                words.push_back(line);
                for (unsigned at = 0; at < CoreSet::words_for(parts_.machine.agents()); ++at) {
                    words.push_back(cores.word(at));
                }
                ++words[count];
            }
        }
    }
    append(interconnect_.state());
    return words;
}

bool DirectoryHome::set_state(std::span<const std::uint64_t> words) {
    const std::size_t lines = parts_.sharers.lines();
    const auto take = [&](std::size_t n) {
        const auto section = words.first(std::min(n, words.size()));
        words = words.subspan(section.size());
        return section;
    };
    for (auto* part : {&llc_, &entries_}) {
        if (*part) {
            const auto section = take((*part)->state_words());
            if (section.size() != (*part)->state_words() || !(*part)->set_state(section, lines)) {
                return false;
            }
        }
    }
    const auto counted = [&](std::size_t each) {
        const auto count = take(1);
        const bool fits = !count.empty() && count[0] <= words.size() / each;
        return fits ? std::optional(take(count[0] * each)) : std::nullopt;
    };
    states_.clear();
    const auto states = counted(1);
    if (!states) {
        return false;
    }
    for (const std::uint64_t word : *states) {
        const std::uint64_t line = word & 0xffff'ffffU;
        if (line >= lines || word >> 32 >= parts_.protocol.home_states()) {
            return false;
        }
        states_.set(static_cast<Line>(line), static_cast<HomeState>(word >> 32));
    }
    const unsigned set_words = CoreSet::words_for(parts_.machine.agents());
    for (Sharers& recalled : recalled_) {
        const auto lost = counted(1 + set_words);
        if (!lost) {
            return false;
        }
        recalled.clear();
        for (std::size_t at = 0; at < lost->size(); at += 1 + set_words) {
            if ((*lost)[at] >= lines) {
                return false;
            }
            for (unsigned word = 0; word < set_words; ++word) {
                const auto cores = CoreSet::of_word(static_cast<CoreSet::Word>((*lost)[at + 1 + word]), word);
                for (const unsigned core : cores) {
                    recalled.add(static_cast<Line>((*lost)[at]), core);
                }
            }
        }
    }
    return tags_agree() && interconnect_.set_state(words);
}

/// Whether the tags hold exactly the lines whose home states have data or copies.
bool DirectoryHome::tags_agree() const {
    std::uint64_t with_data = 0;
    std::uint64_t tracked = 0;
    states_.each([&](Line, HomeState state) {
        with_data += parts_.protocol.home_state(state).data ? 1U : 0U;
        tracked += parts_.protocol.home_state(state).tracked() ? 1U : 0U;
    });
    bool agree = true;
    const auto compare = [&](const std::optional<SlicedCache>& part, std::uint64_t expected, auto&& has) {
        std::uint64_t found = 0;
        if (part) {
            part->each_line([&](Line line) {
                ++found;
                agree = agree && has(info(line));
            });
            agree = agree && found == expected;
        }
    };
    compare(llc_, with_data, [](const HomeStateInfo& state) { return state.data; });
    compare(entries_, tracked, [](const HomeStateInfo& state) { return state.tracked(); });
    return agree;
}

}  // namespace s80::model
