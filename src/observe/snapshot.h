// SPDX-License-Identifier: GPL-2.0-or-later
// Writes snapshots.jsonl: a header that declares the statistics, and a line for each snapshot
// (docs/reference/interfaces/snapshots.md).
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "stream/epoch.h"
#include "timing/merger.h"

namespace s80::model {

class SnapshotWriter {
public:
    /// `watched`: names of the guest counters whose values are in Epoch::watched. Throws Error if the file
    /// cannot be created.
    SnapshotWriter(const std::string& path, const Hierarchy& hierarchy,
                   std::vector<std::string> watched = {});
    ~SnapshotWriter();
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;

    /// Writes the snapshot that is due after this epoch, if there is one (Epoch::mark), and flushes the file.
    void write(const Epoch& epoch, const TimingMerger& merger, const Statistics& stats);

private:
    void put(const std::string& line);
    std::string path_;
    std::vector<std::string> watched_;
    std::FILE* file_;
};

}  // namespace s80::model
