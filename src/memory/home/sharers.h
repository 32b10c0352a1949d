// SPDX-License-Identifier: GPL-2.0-or-later
// The sharers of each line of guest-physical memory, exactly: a full map. A look-up replaces the snoop of all
// caches' tags and costs one host access instead of one per core. A home whose directory is bounded or
// imprecise models that directory beside this index.
#pragma once
#include <cstddef>

#include "base/core_set.h"
#include "base/host_memory.h"
#include "base/types.h"

namespace s80::model {

class Sharers {
public:
    /// The largest number of cores with which lines can be marked.
    static constexpr unsigned kMostMarkedCores = kMaxCores - 1;

    /// `lines`: lines of guest-physical address space.
    Sharers(std::size_t lines, unsigned cores)
        : lines_(lines),
          cores_(CoreSet::below(cores)),
          memory_(lines * sizeof(CoreSet), "the sharing vectors"),
          sets_(reinterpret_cast<CoreSet*>(memory_.data())) {}

    std::size_t lines() const { return lines_; }
    /// The cores that hold the line.
    CoreSet cores(Line line) const { return sets_[line] & cores_; }
    void add(Line line, unsigned core) { sets_[line].add(core); }
    void remove(Line line, unsigned core) { sets_[line].remove(core); }

    /// One bit for each line, whose meaning the home defines. It uses the bit of a core that does not exist,
    /// so it needs no memory.
    bool marked(Line line) const { return sets_[line].has(kMark); }
    void mark(Line line) { sets_[line].add(kMark); }
    void unmark(Line line) { sets_[line].remove(kMark); }

    /// Removes all sharers and all marks.
    void clear() { memory_.clear(); }
    void host_prefetch(Line line) const { model::host_prefetch(&sets_[line]); }

private:
    static constexpr unsigned kMark = kMostMarkedCores;

    std::size_t lines_;
    CoreSet cores_;
    HostMemory memory_;
    CoreSet* sets_;
};

}  // namespace s80::model
