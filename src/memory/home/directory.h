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

/// A line is in the LLC if its home state has data, and occupies an entry of a bounded directory if its home
/// state allows copies. The order of the parts of a request:
/// 1. A line that enters the directory gets an entry. The line that has to leave is recalled.
/// 2. The cell of the request and the snoops give the supplier and the next home state.
/// 3. A line that enters the LLC gets a way. The line that has to leave is displaced, and recalled if the
///    cell of its displacement says so.
/// A block that an L2 puts into the LLC gets its way when the access is over (`settle`): until then the
/// requester holds lines that are in none of its caches, and they must not be recalled. The entry of a line
/// that no core holds any more is free then, too, as in gem5's MOESI_hammer: the write-back of a victim is
/// under way while the directory chooses the entry that has to leave.
class DirectoryHome final : public Home {
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

private:
    struct Waiting {
        Line line;
        ProcessClass process_class;  ///< the fill is counted for this class
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
    void count_after_recall(const Access& a, Outcome& outcome);
    bool tags_agree() const;
    void take_note_of_time();

    std::optional<SlicedCache> llc_;
    std::optional<SlicedCache> entries_;  ///< of a bounded directory
    HomeStates states_;
    /// By cause and line: the cores whose last copy was recalled and that have not asked for the line again.
    /// The host provides memory only for pages that a recall touches.
    std::array<Sharers, kRecallCauses> recalled_;
    std::vector<Line> untracked_;   ///< lines whose entry becomes free when the access is over
    std::vector<Waiting> waiting_;  ///< blocks that an L2 has put into the LLC and that have no way there yet
    Interconnect interconnect_;
};

}  // namespace s80::model
