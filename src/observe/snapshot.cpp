// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/snapshot.h"

#include <cerrno>
#include <cstring>

#include "base/json.h"

namespace s80::model {

namespace {

std::string header(const Hierarchy& hierarchy) {
    const Machine& m = hierarchy.machine();
    return "{\"schema\":2,\"cores\":" + std::to_string(m.cores()) +
           ",\"line_bytes\":" + std::to_string(m.line_bytes) + ",\"clock_hz\":" + std::to_string(m.clock_hz) +
           ",\"threads_per_core\":" + std::to_string(m.threads_per_core) +
           ",\"memory_banks\":" + std::to_string(m.bandwidth.banks) +
           ",\"base_cpi\":" + std::to_string(m.base_cpi) +
           ",\"longest_lead_ns\":" + std::to_string(TimingMerger::longest_lead_ns(m)) +
           ",\"protocol\":" + quoted(hierarchy.protocol().name()) + ',' +
           vocabulary(hierarchy.stats().dimensions()) + "}\n";
}

const char* mark_name(Mark mark) {
    switch (mark) {
        case Mark::load_begin: return "load_begin";
        case Mark::interval: return "sampling_interval";
        case Mark::measure_begin: return "measure_begin";
        case Mark::measure_end: return "measure_end";
        default: return "exit";
    }
}

}  // namespace

SnapshotWriter::SnapshotWriter(const std::string& path, const Hierarchy& hierarchy,
                               std::vector<std::string> watched)
    : path_(path), watched_(std::move(watched)), file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) {
        throw Error("cannot write " + path + ": " + std::strerror(errno));
    }
    put(header(hierarchy));
}

SnapshotWriter::~SnapshotWriter() {
    std::fclose(file_);
}

void SnapshotWriter::write(const Epoch& epoch, const TimingMerger& merger, const Statistics& stats) {
    if (epoch.mark == Mark::none) {
        return;
    }
    std::string line = "{\"mark\":" + quoted(mark_name(epoch.mark)) +
                       ",\"index\":" + std::to_string(epoch.index) +
                       ",\"instructions\":" + std::to_string(epoch.instructions) +
                       ",\"clock_ns\":" + std::to_string(merger.clock_ns()) +
                       ",\"idle_ns\":" + std::to_string(merger.idle_ns()) + ",\"values\":{";
    for (unsigned s = 0; s < kStats; ++s) {
        const auto stat = static_cast<Stat>(s);
        if (!stats.dimensions().has(info(stat))) {
            continue;
        }
        line += s == 0 ? "" : ",";
        line += quoted(info(stat).name) + ':' +
                array(stats.values(stat), [](std::uint64_t v) { return std::to_string(v); });
    }
    line += '}';
    if (epoch.clients_finished) {
        line += ",\"clients_finished\":" + std::to_string(*epoch.clients_finished);
    }
    if (!watched_.empty()) {
        line += ",\"guest\":{";
        for (std::size_t i = 0; i < watched_.size(); ++i) {
            line += i == 0 ? "" : ",";
            line += quoted(watched_[i]) + ':' + std::to_string(epoch.watched.at(i));
        }
        line += '}';
    }
    put(line + "}\n");
}

void SnapshotWriter::put(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0) {
        throw Error("cannot write " + path_ + ": " + std::strerror(errno));
    }
}

}  // namespace s80::model
