// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/capture.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace s80::plugin {

namespace {

/// Returns the contents of a file; an empty string if the path is empty.
std::string read_file(const std::string& path) {
    if (path.empty()) {
        return {};
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw model::Error("cannot read " + path + ": " + std::strerror(errno));
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Capture::Capture(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol,
                 std::uint64_t lines)
    : last_(arguments.measure != 0 || arguments.run != 0 ? model::Mark::measure_end : model::Mark::exit) {
    if (arguments.capture_full.empty() && arguments.capture_filtered.empty()) {
        return;
    }
    trace::Header header;
    header.processors = machine.processors;
    header.lines = lines;
    header.machine = read_file(arguments.machine);
    header.protocol = protocol.name();
    header.origin = read_file(arguments.capture_origin);
    if (!arguments.capture_filtered.empty()) {
        header.form = trace::Form::filtered;
        filtered_.emplace(arguments.capture_filtered, header);
        filter_.emplace(machine);
    }
    if (!arguments.capture_full.empty()) {
        header.form = trace::Form::full;
        header.state = read_file(arguments.state_in);
        full_.emplace(arguments.capture_full, header);
    }
}

void Capture::write(const model::Epoch& epoch) {
    if (filtered_) {
        filtered_->write(filter_->epoch());
    }
    if (full_) {
        full_->write(epoch);
    }
    if (epoch.mark == last_) {
        for (std::optional<trace::Writer>* writer : {&filtered_, &full_}) {
            if (*writer) {
                (*writer)->close();
                writer->reset();
            }
        }
    }
}

}  // namespace s80::plugin
