// SPDX-License-Identifier: GPL-2.0-or-later
// What a capture contains: the recorded epochs of a run, which a replay plays without the guest.
// docs/reference/interfaces/capture-file.md describes the layout of the file (suffix .s80c).
#pragma once
#include <cstdint>
#include <string>

namespace s80::trace {

/// `full`: the capture has every recorded event. `filtered`: it lacks the accesses that an L1 absorbs under
/// every invalidation protocol (trace/filter.h).
enum class Form : std::uint32_t { full, filtered };

/// The part of a capture before the first epoch.
struct Header {
    Form form = Form::full;
    unsigned processors = 0;
    std::uint64_t lines = 0;  ///< size of guest-physical memory in lines; all accessed lines are below
    std::string machine;      ///< the resolved machine file of the live run, as TOML
    std::string protocol;     ///< name of the protocol of the live run
    std::string origin;       ///< where the capture comes from, as JSON: experiment, seed, hashes, versions
    /// State of the model before the first epoch (checkpoint/state_file.h); empty: the caches were cold.
    std::string state;
};

/// Totals of a capture, which its end record contains.
struct Totals {
    std::uint64_t epochs = 0;
    std::uint64_t events = 0;
    /// Accesses of the guest's processors to lines, including those that were not recorded.
    std::uint64_t accesses = 0;
    std::uint64_t instructions = 0;  ///< instructions executed in these epochs
    std::uint64_t last = 0;          ///< `Epoch::instructions` of the last epoch
    bool operator==(const Totals&) const = default;
};

}  // namespace s80::trace
