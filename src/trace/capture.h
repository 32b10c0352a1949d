// SPDX-License-Identifier: GPL-2.0-or-later
// What a capture is: the windows of a run in a file, to be played again without the guest. The layout of
// the file (suffix .s80c) is described in docs/guides/captures.md.
#pragma once
#include <cstdint>
#include <string>

namespace s80::trace {

/// full: every event that was recorded. filtered: placed windows, without what a private L1 absorbs under
/// every invalidation protocol (filter.h).
enum class Form : std::uint32_t { full, filtered };

/// What is known before the first window.
struct Header {
    Form form = Form::full;
    unsigned processors = 0;
    std::uint64_t lines = 0;  ///< of guest-physical memory: every line accessed is below
    std::string machine;      ///< the resolved machine file, TOML
    std::string protocol;     ///< name of the table in the live run
    std::string origin;       ///< JSON: experiment, seed, hashes and versions
    std::string state;  ///< model state (model/state_file.h) before the first window; empty: cold caches
};

/// What the end record says.
struct Totals {
    std::uint64_t windows = 0;
    std::uint64_t events = 0;
    std::uint64_t accesses = 0;      ///< line accesses that the guest made, recorded or not
    std::uint64_t instructions = 0;  ///< begun in these windows
    std::uint64_t last = 0;          ///< `Window::instructions` of the last window
    bool operator==(const Totals&) const = default;
};

}  // namespace s80::trace
