// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/miss_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <type_traits>

namespace s80::model {

namespace {

constexpr const char* kPurpose = "the sums of misses";

/// A key as whole words. Keys have no padding, so equal keys have equal words.
using Words = std::array<std::uint64_t, sizeof(MissKey) / sizeof(std::uint64_t)>;
static_assert(std::has_unique_object_representations_v<MissKey>);

Words words(const MissKey& key) {
    return std::bit_cast<Words>(key);
}

bool by_memory(const MissKey& key) {
    return key.traits.request == Request::miss && key.traits.source == Source::memory;
}

/// Makes the sum stand for a range of 2^shift bytes around its address.
void widen(MissSum& sum, unsigned shift) {
    MissKey& key = sum.key;
    if (key.range >= shift) {
        return;
    }
    key.address = shift == MissKey::kEverything ? 0 : key.address >> shift << shift;
    key.range = static_cast<std::uint8_t>(shift);
    key.physical = MissKey::kNoPhysical;
    key.traits.size = 0;
    sum.reads = sum.writes = sum.foreign = 0;
}

/// Adds `from`, which has the same key, to `to`.
void merge(MissSum& to, const MissSum& from) {
    to.first_ns = std::min(to.first_ns, from.first_ns);
    to.last_ns = std::max(to.last_ns, from.last_ns);
    to.count += from.count;
    to.stall += from.stall;
    to.own_reads += from.own_reads;
    to.reads |= from.reads;
    to.writes |= from.writes;
    to.foreign |= from.foreign;
}

}  // namespace

MissSums::MissSums(std::size_t lines, std::uint64_t line_bytes, std::size_t limit)
    : line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes))),
      limit_(limit),
      slots_mask_(std::bit_ceil(2 * limit) - 1),
      sum_memory_(limit * sizeof(MissSum), kPurpose),
      slot_memory_((slots_mask_ + 1) * sizeof(std::uint32_t), kPurpose),
      reader_memory_(lines, kPurpose),
      sums_(reinterpret_cast<MissSum*>(sum_memory_.data())),
      slots_(reinterpret_cast<std::uint32_t*>(slot_memory_.data())),
      readers_(reinterpret_cast<std::uint8_t*>(reader_memory_.data())) {}

void MissSums::add(const Miss& miss) {
    MissSum sum;
    sum.key.physical = miss.physical;
    sum.key.address = miss.address;
    sum.key.pc = miss.pc;
    sum.key.who = miss.who;
    sum.key.traits = miss.traits;
    sum.count = 1;
    sum.stall = miss.stall;
    sum.first_ns = sum.last_ns = miss.time_ns;
    sum.own_reads = after_own_read(miss) ? 1 : 0;
    sum.reads = miss.reads;
    sum.writes = miss.writes;
    sum.foreign = miss.foreign;
    put(sum);
    if (used_ == limit_) {
        fold();
    }
}

/// Whether this request is a store to a line for which the same core made the last request, too, by a read.
/// Migratory lines are recognised by such requests (scripts/s80lab/analysis/misses/sharing.py).
bool MissSums::after_own_read(const Miss& miss) {
    std::uint8_t& reader = readers_[miss.physical >> line_shift_];
    const auto self = static_cast<std::uint8_t>(miss.traits.core + 1);
    const bool stores = miss.traits.kind == Kind::store;
    const bool own = stores && reader == self;
    reader = stores ? 0 : self;
    return own;
}

/// The slot of the hash table for this key: it is empty, or it has the sum with this key.
std::uint32_t& MissSums::slot(const MissKey& key) {
    constexpr std::uint64_t kScatter = 0x9e37'79b9'7f4a'7c15;
    const Words wanted = words(key);
    std::uint64_t hash = 0;
    for (const std::uint64_t word : wanted) {
        hash = (hash ^ word) * kScatter;
        hash ^= hash >> 32;
    }
    for (std::size_t at = hash & slots_mask_;; at = (at + 1) & slots_mask_) {
        if (slots_[at] == 0 || words(sums_[slots_[at] - 1].key) == wanted) {
            return slots_[at];
        }
    }
}

void MissSums::put(const MissSum& sum) {
    std::uint32_t& place = slot(sum.key);
    if (place != 0) {
        merge(sums_[place - 1], sum);
        return;
    }
    sums_[used_++] = sum;
    place = static_cast<std::uint32_t>(used_);
}

/// Applies `change` to all sums, and merges those whose keys become equal. Returns the number of sums that
/// are left.
template <class Change>
std::size_t MissSums::folded(Change&& change) {
    std::fill_n(slots_, slots_mask_ + 1, 0);
    const std::size_t many = used_;
    used_ = 0;
    for (std::size_t i = 0; i < many; ++i) {
        MissSum sum = sums_[i];  // a copy, because put() writes sums to places before this one
        change(sum);
        put(sum);
    }
    return used_;
}

/// Makes room: sums give up details, first those that matter least, until half of the sums have been merged
/// away. So the work for a request is constant on average. Sums of frequent transfers lose their details
/// last.
void MissSums::fold() {
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
    const std::size_t half = limit_ / 2;
    const std::size_t most = limit_ - limit_ / 8 - 1;
    struct Step {
        /// Sums of transfers and upgrades with at most this number of requests give up details.
        std::uint64_t count;
        unsigned shift;
        std::size_t enough;  ///< number of sums at which no further details are given up
        bool keeps_task = true;
        bool keeps_code = true;
    };
    for (const Step step : {
             Step{0, MissKey::kPage, half},
             Step{0, MissKey::kLargePage, half},
             Step{1, MissKey::kPage, half},
             Step{1, MissKey::kLargePage, half},
             Step{16, MissKey::kLargePage, half},
             Step{256, MissKey::kLargePage, half},
             Step{256, MissKey::kEverything, half},
             Step{256, MissKey::kEverything, half, false},
             Step{256, MissKey::kEverything, most, false, false},
             Step{kAny, MissKey::kEverything, most, false, false},
         }) {
        const auto change = [step](MissSum& sum) {
            if (!by_memory(sum.key) && sum.key.range == 0 && sum.count > step.count) {
                return;
            }
            widen(sum, step.shift);
            sum.key.who = step.keeps_task ? sum.key.who : MissKey::kNoWho;
            sum.key.pc = step.keeps_code ? sum.key.pc : 0;
        };
        if (folded(change) <= step.enough) {
            return;
        }
    }
    if (used_ == limit_) {
        throw Error(std::string(kPurpose) + " need more than " + std::to_string(limit_) +
                    " entries: raise the plugin argument sums_limit");
    }
}

}  // namespace s80::model
