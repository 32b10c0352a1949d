// SPDX-License-Identifier: GPL-2.0-or-later
// The plugin's arguments. docs/reference/interfaces/plugin-arguments.md explains each of them.
#pragma once
#include <cstdint>
#include <string>

#include "observe/miss_sums.h"

namespace s80::plugin {

struct Arguments {
    std::string machine;
    std::string protocol;
    std::string out;
    std::string ram;
    std::uint64_t low_ram = 0;
    std::string misses;    ///< file for the log of misses; empty: no log is written
    std::string sums;      ///< file for the sums of misses; empty: no sums are written
    std::string mappings;  ///< file for the mappings of processes; empty: no mappings are recorded
    /// file with the allocator functions (Allocations); empty: allocations are not recorded
    std::string allocations;
    std::string profile;  ///< file for the profile; empty: no profile is written
    std::string kernel;
    std::string classes;
    std::string state_in;
    std::string state_out;
    std::string watch;
    std::string capture_full;
    std::string capture_filtered;
    std::string capture_origin;
    std::uint64_t clock_shift = 0;  ///< 2^clock_shift guest seconds are one simulated second
    std::uint64_t dma = 0;          ///< 1: memcpy in kernel modules counts as a device's access
    /// For tests: the factor by which all latencies of the second half of the cores are longer.
    std::uint64_t slow = 1;
    /// For tests: length of each time slice in instructions; 0: not bounded (Epochs::bound_slices).
    std::uint64_t slice = 0;
    std::uint64_t sums_limit = model::MissSums::kDefaultLimit;
    std::uint64_t skip = 0;
    std::uint64_t measure = 0;
    std::uint64_t region_from = 0;  ///< physical address of a program's function; see EntryPoints
    std::uint64_t region_to = 0;
    std::uint64_t counted = 0;
    std::uint64_t run = 0;      ///< 1: regions of programs count only within a run (Recorder::run_begins)
    std::uint64_t markers = 1;  ///< 0: regions that programs mark by marker instructions do not count
    std::uint64_t sampling_interval = 1'000'000'000;
    std::uint64_t growth = 0;  ///< growth of the sampling intervals; 0: none (Schedule)

    /// Reads the arguments; each of `argv` is KEY=VALUE. Throws model::Error that names the argument.
    static Arguments parse(int argc, char** argv);
};

}  // namespace s80::plugin
