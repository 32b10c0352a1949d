// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/conflicts.h"

#include <utility>

namespace s80::plugin {

Conflicts::Conflicts(std::size_t lines, const StorePositions& stores)
    : stores_(stores),
      memory_(lines * sizeof(Alone), "the order of conflicting accesses"),
      alone_(reinterpret_cast<Alone*>(memory_.data())),
      mask_(kSmallest - 1),
      groups_(kSmallest + kProbes) {}

void Conflicts::next_epoch() {
    ++epoch_;
    ++slice_;
    contended_.clear();
    // The epoch's last bits have wrapped around: old records must not match.
    if ((epoch_ & kEpochMask) == 0) {
        memory_.clear();
        epoch_ += 2;
    }
}

/// A second processor accesses the line. Makes its complete record from the short record of the first
/// processor.
void Conflicts::share(Alone& alone, model::Line line) {
    const auto [group, i] = find(line);
    const auto bit = static_cast<std::uint8_t>(1U << i);
    const unsigned owner = alone.processor();
    const model::CoreSet processor = model::CoreSet::only(owner);
    const bool stored = alone.has(Alone::kStoredNow | Alone::kStoredBefore);
    group.now[i] = alone.has(Alone::kLoadedNow) ? processor : model::CoreSet();
    group.before[i] = alone.has(Alone::kLoadedBefore) ? processor : model::CoreSet();
    group.storer[i] = static_cast<std::uint8_t>(stored ? owner : Found::kNobody);
    group.stored_now &= static_cast<std::uint8_t>(~bit);
    group.moved_now &= static_cast<std::uint8_t>(~bit);
    group.moved_before &= static_cast<std::uint8_t>(~bit);
    group.reported &= static_cast<std::uint8_t>(~bit);
    if (alone.has(Alone::kStoredNow)) {
        group.stored_now |= bit;
        group.stored_at[i] = stores_.last_store(owner, line);
        group.first_at[i] = group.stored_at[i];
        group.stored_time[i] = Found::kNoTime;
    }
    alone.share();
}

/// The complete record of a line that several processors have accessed; makes it if there is none yet.
inline Conflicts::Place Conflicts::find_shared(model::Line line) {
    if (!alone_[line].has(Alone::kShared)) {
        share(alone_[line], line);
    }
    return find(line);
}

inline Conflicts::Place Conflicts::find(model::Line line) {
    const model::Line number = line / kLines;
    Group* const first = home(number);
    for (Group* group = first; group != first + kProbes; ++group) {
        if (group->number == number && recent(*group)) {
            if (group->used != epoch_) {
                group->before = std::exchange(group->now, {});
                for (unsigned i = 0; i < kLines; ++i) {
                    if ((group->stored_now >> i & 1) == 0) {
                        group->storer[i] = Found::kNobody;
                    }
                }
                group->moved_before = std::exchange(group->moved_now, std::uint8_t{0});
                group->used = epoch_;
                group->stored_now = 0;
                group->listed = 0;
            }
            return {*group, line % kLines};
        }
    }
    return {make(number), line % kLines};
}

/// Returns a free group for these lines. Never drops a group that was used in this epoch or the last, but
/// grows the table.
Conflicts::Group& Conflicts::make(model::Line number) {
    for (;; grow()) {
        Group* const first = home(number);
        for (Group* group = first; group != first + kProbes; ++group) {
            if (!recent(*group)) {
                *group = {};
                group->number = number;
                group->used = epoch_;
                group->storer.fill(Found::kNobody);
                return *group;
            }
        }
    }
}

void Conflicts::grow() {
    // The groups move: invalidates the pointers in `recent_`, which are valid in one time slice only.
    ++slice_;
    mask_ = mask_ * 2 + 1;
    const std::vector<Group> old = std::exchange(groups_, std::vector<Group>(mask_ + 1 + kProbes));
    for (const Group& group : old) {
        if (recent(group)) {
            make(group.number) = group;
        }
    }
}

/// Finds the last store of another processor, with which a load or a store conflicts. The caller completes
/// the result.
inline Conflicts::Found Conflicts::Place::conflict(unsigned processor) const {
    Found found;
    const unsigned storer = group.storer[line];
    if (storer != processor && storer != Found::kNobody) {
        found.contended = true;
        if (!(group.now[line] | group.before[line]).has(processor)) {
            found.transfers = true;
            found.miss = true;
            if ((group.stored_now >> line & 1) != 0) {
                found.storer = storer;
                found.stored_at = group.stored_at[line];
                found.first_at = group.first_at[line];
                found.stored_time = group.stored_time[line];
            } else if ((group.reported >> line & 1) != 0) {
                found.storer_before = storer;
                found.stored_at = group.stored_at[line];
                found.stored_time = group.stored_time[line];
            }
        }
    }
    return found;
}

inline void Conflicts::Place::note_transfer(Found& found, unsigned processor) const {
    const auto bit = static_cast<std::uint8_t>(1U << line);
    if (found.transfers) {
        group.moved_now |= bit;
    } else if (((group.moved_before | group.moved_now) & bit) != 0) {
        const bool stored = (group.stored_now & bit) != 0 && group.storer[line] == processor;
        found.disputed = true;
        found.first = !stored && !group.now[line].has(processor);
    }
}

inline void Conflicts::list(const Place& place, const Found& found, model::Line line) {
    const auto bit = static_cast<std::uint8_t>(1U << place.line);
    if ((found.transfers || found.disputed) && (place.group.listed & bit) == 0) {
        place.group.listed |= bit;
        contended_.push_back(line);
    }
}

Conflicts::Found Conflicts::load(unsigned processor, model::Line line) {
    if (finds_nothing(processor, line, model::Kind::load)) {
        return {};
    }
    Recent& r = recent(processor, line);
    if (r.loaded == in_slice(line)) {
        Found found;
        found.contended = r.contended;
        found.disputed = r.disputed;
        return found;
    }
    r.loaded = in_slice(line);
    const Place place = find_shared(line);
    Found found = place.conflict(processor);
    r.contended = found.contended;
    place.note_transfer(found, processor);
    list(place, found, line);
    r.disputed = found.transfers || found.disputed;
    place.group.now[place.line].add(processor);
    return found;
}

Conflicts::Found Conflicts::store(unsigned processor, model::Line line, std::uint32_t at) {
    if (finds_nothing(processor, line, model::Kind::store)) {
        return {};
    }
    Recent& r = recent(processor, line);
    if (r.stored_again(in_slice(line))) {
        *r.stored_at = at;
        Found found;
        found.disputed = r.disputed;
        found.when = r.when;
        return found;
    }
    const Place place = find_shared(line);
    Found found = place.conflict(processor);
    Group& group = place.group;
    found.readers = group.now[place.line].without(processor);
    found.copies = found.readers | group.before[place.line].without(processor);
    found.upgrade = !found.miss && (found.contended || !found.copies.empty());
    found.transfers |= !found.copies.empty();
    place.note_transfer(found, processor);
    const auto bit = static_cast<std::uint8_t>(1U << place.line);
    list(place, found, line);
    if (found.transfers || found.contended || (group.stored_now & bit) == 0) {
        group.first_at[place.line] = at;
    }
    group.storer[place.line] = static_cast<std::uint8_t>(processor);
    group.stored_now |= bit;
    group.reported &= static_cast<std::uint8_t>(~bit);
    group.stored_at[place.line] = at;
    group.now[place.line] = {};
    group.before[place.line] = {};
    found.when = &group.stored_time[place.line];
    *found.when = Found::kNoTime;
    r = {0,          in_slice(line), &group.stored_at[place.line],
         found.when, false,          found.transfers || found.disputed};
    return found;
}

void Conflicts::moved(model::Line line, std::uint32_t at) {
    if (!alone_[line].has(Alone::kShared)) {
        return;
    }
    const auto [group, i] = find(line);
    if (group.first_at[i] == group.stored_at[i]) {
        group.first_at[i] = at;
    }
    group.stored_at[i] = at;
}

}  // namespace s80::plugin
