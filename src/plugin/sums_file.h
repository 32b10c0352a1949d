// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the file of sums of misses (docs/reference/interfaces/miss-sums.md).
#pragma once
#include <string>

#include "machine/machine.h"
#include "observe/miss_sums.h"
#include "plugin/record_file.h"
#include "plugin/whos.h"

namespace s80::plugin {

class SumsFile {
public:
    /// Throws model::Error if the file cannot be created.
    explicit SumsFile(const std::string& path) : file_(path, "S80SUMS1", "the sums of misses") {}

    /// What the sums cover. `regions`: number of measured regions that began. `complete`: the last region has
    /// ended.
    struct Measured {
        std::uint64_t regions = 0;
        bool complete = true;
    };
    /// Writes the complete file, with the entries of `whos` that the sums refer to. Throws model::Error.
    void write(const model::MissSums& sums, const Measured& measured, const model::Machine& machine,
               const Whos& whos);

private:
    RecordFile file_;
};

}  // namespace s80::plugin
