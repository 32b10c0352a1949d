// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the scripts of a job, line by line (docs/reference/interfaces/job.md).
#pragma once

#include <string_view>
#include <vector>

#include "scripts/script.h"

namespace s80::loadgen {

class ScriptReader {
public:
    /// The keys that the reader handles.
    static std::span<const std::string_view> keys();

    /// Reads one line of the job. Throws Fatal with the error in the line.
    void take(std::string_view key, std::string_view value);
    /// Called after the last line. Throws Fatal if these clients cannot follow the scripts.
    void finish(unsigned clients, unsigned users);

    std::vector<Script> scripts;
    SizeTable sizes;

private:
    void begin(std::string_view key, std::string_view value);
    void add_sizes(std::string_view key, std::string_view value);
    Step step(std::string_view key, std::string_view value) const;
};

}  // namespace s80::loadgen
