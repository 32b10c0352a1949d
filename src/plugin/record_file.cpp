// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/record_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/json.h"

namespace s80::plugin {

namespace {

constexpr std::size_t kMagicBytes = 8;

}  // namespace

RecordFile::RecordFile(const std::string& path, const char* magic, std::string what)
    : file_(path), what_(std::move(what)) {
    if (!file_.created()) {
        fail();
    }
    put(magic, kMagicBytes);
}

void RecordFile::finish(const std::string& json) {
    const std::uint64_t length = json.size();
    put(json.data(), json.size());
    put(&length, sizeof length);
    if (!file_.close() || !file_.take_name()) {
        fail();
    }
}

void RecordFile::fail() const {
    throw model::Error(what_ + ' ' + file_.path() + " cannot be written: " + std::strerror(errno));
}

std::string request_labels(const model::Machine& machine) {
    using model::Dim;
    using Labels = std::vector<std::string_view>;
    using model::array;
    const model::Dimensions dimensions = machine.dimensions();
    std::string json = "\"line_bytes\":" + std::to_string(machine.line_bytes) +
                       ",\"cores\":" + std::to_string(machine.cores()) + ",\"labels\":{";
    json += "\"request\":" + array(Labels{"miss", "upgrade"});
    json += ",\"reason\":" + array(Labels{"cold", "capacity", "conflict", "coherence", "none"});
    json += ",\"sharing\":" + array(Labels{"none", "true", "false"});
    for (const Dim dim : {Dim::kind, Dim::source, Dim::process_class, Dim::entry}) {
        json += ",\"" + std::string(model::dim_name(dim)) + "\":" + array(dimensions.labels(dim));
    }
    return json + '}';
}

}  // namespace s80::plugin
