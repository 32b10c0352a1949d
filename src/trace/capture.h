// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of a capture: the epochs of a run in a file, which a replay plays without the
// guest. The layout of the file (suffix .s80c) is described in docs/reference/interfaces/capture-file.md.
#pragma once
#include <cstdint>
#include <string>

namespace s80::trace {

/// full: every recorded event. filtered: L1-filtered epochs, without the accesses that a private L1 absorbs
/// under every invalidation protocol (filter.h).
enum class Form : std::uint32_t { full, filtered };

/// Data before the first epoch.
struct Header {
    Form form = Form::full;
    unsigned processors = 0;
    std::uint64_t lines = 0;  ///< of guest-physical memory; all accesses are below
    std::string machine;      ///< the resolved machine file, TOML
    std::string protocol;     ///< name of the protocol's table in the live run
    std::string origin;       ///< JSON: experiment, seed, hashes and versions
    std::string state;  ///< model state (checkpoint/state_file.h) before the first epoch; empty: cold caches
};

/// The contents of the end record.
struct Totals {
    std::uint64_t epochs = 0;
    std::uint64_t events = 0;
    std::uint64_t accesses = 0;      ///< line accesses of the guest, recorded or not
    std::uint64_t instructions = 0;  ///< begun in these epochs
    std::uint64_t last = 0;          ///< `Epoch::instructions` of the last epoch
    bool operator==(const Totals&) const = default;
};

}  // namespace s80::trace
