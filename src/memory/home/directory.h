// SPDX-License-Identifier: GPL-2.0-or-later
// A home that plays the cells of a protocol's [home]: a directory, and a shared last-level cache (LLC) if the
// protocol has one.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "cache/sliced_cache.h"
#include "memory/home/home.h"
#include "memory/home/home_states.h"
#include "memory/home/interconnect.h"

namespace s80::model {

/// The home state of a line says where the line is: it is in the LLC if the state has data, and in a bounded
/// directory if the state allows copies in private caches. A request has these steps:
/// 1. If the line enters the directory, it gets an entry. The line that loses its entry is recalled.
/// 2. The table's cell for the request, and the snoops, determine the supplier and the next home state.
/// 3. If the line enters the LLC, it gets a way. The line that loses its way is displaced; if the cell of the
///    displacement says so, the line is also recalled.
/// A block that an L2 evicts into the LLC gets its way only after the access, in settle(). Before, the
/// requester holds lines that are in none of its caches yet, and a recall would miss them. The entry of a
/// line that no core holds any more becomes free in settle(), too, as in gem5's MOESI_hammer: while the
/// directory chooses the entry to recall, the write-back of the requester's victim is still under way.
class DirectoryHome : public Home {
public:
    static constexpr const char* kName = "directory";
    static constexpr std::span<const Key> kKeys{};

    /// Throws Error if machine and protocol do not fit.
    explicit DirectoryHome(const HomeParts& parts);

    Reply request(const Access& access, Bus bus, Outcome& outcome) override;
    void evicted(unsigned core, Line line, Block block) override;
    void device_read(Line line) override;
    void device_write(Line line) override;
    void epoch_ended(std::int64_t next) override { interconnect_.forget(next, parts_.stats); }
    bool follows_up() const override { return true; }
    void settle() override;

    std::optional<HomeState> home_state(Line line) const override { return states_.state(line); }
    void host_prefetch(Line line, Line evicted) const override;

    std::vector<std::uint64_t> state() const override;
    [[nodiscard]] bool set_state(std::span<const std::uint64_t> words) override;

protected:
    void count_after_recall(const Access& a, Outcome& outcome);

private:
    /// A block that an L2 has evicted into the LLC, and that has no way there until settle().
    struct Waiting {
        Line line;
        ProcessClass process_class;  ///< of the evicted block; settle() counts the fill of the LLC for it
    };

    const HomeCell& cell(HomeEvent event, Line line) const;
    const HomeStateInfo& info(Line line) const { return parts_.protocol.home_state(states_.state(line)); }
    Reply answer_alone(const Access& a, Bus bus, Outcome& outcome) const;
    void update_home(const Access& a, HomeEvent event, const HomeCell& home, HomeState next,
                     bool written_back);
    void charge_miss(const Access& a, bool supplies, Outcome& outcome);
    void enter(Line line, HomeState next);
    void free_entries();
    void play(HomeEvent event, Line line, HomeState next, CoreNumber core = kNobody);
    void fill_llc(Line line, ProcessClass process_class);
    void displace(Line line, ProcessClass process_class);
    void track(Line line, ProcessClass process_class);
    bool recall(Line line, RecallCause cause, ProcessClass process_class);
    bool tags_agree() const;
    void take_note_of_time();

    std::optional<SlicedCache> llc_;
    /// The entries of a bounded directory; nothing: the directory is not bounded.
    std::optional<SlicedCache> entries_;
    HomeStates states_;
    /// By recall cause: the cores whose last copy of a line was recalled, and which have not requested the
    /// line since. For a group cache, none of its cores has requested it. The host provides memory only for
    /// pages with such lines.
    std::array<Sharers, kRecallCauses> recalled_;
    std::vector<Line> untracked_;   ///< lines whose entry becomes free when the access is over
    std::vector<Waiting> waiting_;  ///< blocks that an L2 has put into the LLC and that have no way there yet
    Interconnect interconnect_;
};

}  // namespace s80::model
