// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/miss_log.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include "model/statistics.h"
#include "plugin/json.h"

namespace s80::plugin {

namespace {

constexpr char kMagic[8] = {'S', '8', '0', 'M', 'I', 'S', 'S', '1'};

}  // namespace

MissLog::MissLog(const std::string& path)
    : path_(path), partial_(path + ".partial"), file_(std::fopen(partial_.c_str(), "wb")) {
    if (file_ == nullptr) {
        fail();
    }
    put(kMagic, sizeof kMagic);
}

MissLog::~MissLog() {
    if (file_ != nullptr) {
        file_.reset();
        std::remove(partial_.c_str());
    }
}

void MissLog::finish(const model::Machine& machine, const Whos& whos) {
    using model::Dim;
    using Labels = std::vector<const char*>;
    std::string json = "{\"line_bytes\":" + std::to_string(machine.line_bytes) +
                       ",\"cores\":" + std::to_string(machine.cores()) + ",\"labels\":{";
    json += "\"request\":" + array(Labels{"miss", "upgrade"});
    json += ",\"reason\":" + array(Labels{"cold", "capacity", "conflict", "coherence", "none"});
    json += ",\"sharing\":" + array(Labels{"none", "true", "false"});
    for (const Dim dim : {Dim::kind, Dim::source, Dim::party, Dim::entry}) {
        json += ",\"" + std::string(model::dim_name(dim)) + "\":" + array(model::labels(dim));
    }
    json += "},\"whos\":" + whos.json(whos_) + '}';
    const std::uint64_t length = json.size();
    put(json.data(), json.size());
    put(&length, sizeof length);
    if (std::fflush(file_.get()) != 0 || std::rename(partial_.c_str(), path_.c_str()) != 0) {
        fail();
    }
    file_.reset();
}

void MissLog::put(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_.get()) != bytes) {
        fail();
    }
}

void MissLog::fail() const {
    throw model::Error("the log of misses " + path_ + " cannot be written: " + std::strerror(errno));
}

}  // namespace s80::plugin
