// SPDX-License-Identifier: GPL-2.0-or-later
// snapshots.jsonl: a header that declares the statistics, then one line a snapshot
// (docs/reference/interfaces/snapshots.md).
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "model/player.h"
#include "model/window.h"

namespace s80::model {

class SnapshotWriter {
public:
    /// Throws Error when the file cannot be made.
    /// watched: names of the counters of the guest that windows with a mark bring.
    SnapshotWriter(const std::string& path, const Hierarchy& hierarchy,
                   std::vector<std::string> watched = {});
    ~SnapshotWriter();
    SnapshotWriter(const SnapshotWriter&) = delete;
    SnapshotWriter& operator=(const SnapshotWriter&) = delete;

    /// Writes the line that the window's mark asks for, if any; the line is on disk's way at once.
    void write(const Window& window, const Player& player, const Statistics& stats);

private:
    void put(const std::string& line);
    std::string path_;
    std::vector<std::string> watched_;
    std::FILE* file_;
};

}  // namespace s80::model
