// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the scripts of a job, a line at a time (docs/reference/interfaces/job.md).
#pragma once

#include <string_view>
#include <vector>

#include "scripts/script.hpp"

namespace s80::loadgen {

class ScriptReader {
public:
    /// The keys that it takes.
    static std::span<const std::string_view> keys();

    /// One line of the job. Throws Fatal that says what is wrong with it.
    void take(std::string_view key, std::string_view value);
    /// The last line has been read. Throws Fatal for scripts that cannot be followed by these clients.
    void finish(unsigned clients, unsigned users);

    std::vector<Script> scripts;
    SizeTable sizes;

private:
    void begin(std::string_view key, std::string_view value);
    void add_sizes(std::string_view key, std::string_view value);
    Step step(std::string_view key, std::string_view value) const;
};

}  // namespace s80::loadgen
