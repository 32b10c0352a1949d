// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the log of misses: one record for each L2 miss and upgrade of the measured region
// (docs/reference/interfaces/miss-log.md).
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "machine/machine.h"
#include "observe/attribution.h"
#include "plugin/record_file.h"
#include "plugin/whos.h"

namespace s80::plugin {

class MissLog {
public:
    /// Throws model::Error if the file cannot be created.
    explicit MissLog(const std::string& path) : file_(path, "S80MISS1", "the log of misses") {}

    /// Appends a record. Throws model::Error if the file cannot be written.
    void write(const model::Miss& miss) {
        whos_ = std::max(whos_, miss.who + std::size_t{1});
        file_.put(&miss, sizeof miss);
    }
    /// Completes the file, with the entries of `whos` that the records refer to. Throws model::Error.
    void finish(const model::Machine& machine, const Whos& whos) {
        file_.finish('{' + request_labels(machine) + ",\"whos\":" + whos.json(whos_) + '}');
    }

private:
    RecordFile file_;
    /// Number of entries of `whos` that the records need: the highest Miss::who plus one.
    std::size_t whos_ = 0;
};

}  // namespace s80::plugin
