// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "replay/order.h"

namespace s80::replay {

namespace {

[[noreturn]] void refuse(const std::string& path, std::size_t at, const std::string& what) {
    throw model::Error(path + ": access " + std::to_string(at) + " " + what);
}

}  // namespace

std::vector<Access> read_order(const std::string& path, const model::Machine& machine, std::uint64_t lines) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    if (error) {
        throw model::Error(path + ": cannot be read (" + error.message() + ")");
    }
    if (bytes % sizeof(Access) != 0) {
        throw model::Error(path + ": " + std::to_string(bytes) +
                           " bytes are not a multiple of 16-byte records: truncated, or not an order file");
    }
    std::vector<Access> order(bytes / sizeof(Access));
    std::FILE* file = std::fopen(path.c_str(), "rb");
    const std::size_t got =
        file == nullptr ? 0 : std::fread(order.data(), sizeof(Access), order.size(), file);
    if (file != nullptr) {
        std::fclose(file);
    }
    if (file == nullptr || got != order.size()) {
        throw model::Error(path + ": cannot be read");
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Access& a = order[i];
        if (a.op >= model::kKinds || a.context >= model::kContexts || a.zero != 0) {
            refuse(path, i, "is malformed: not an order file");
        }
        if (a.processor >= machine.processors) {
            refuse(path, i,
                   "is of processor " + std::to_string(a.processor) + ", but the machine has " +
                       std::to_string(machine.processors) + " (numbered from 0)");
        }
        if (a.line >= lines || a.line == model::kNoLine) {
            refuse(path, i,
                   "is of line " + std::to_string(a.line) + ", beyond the memory of " +
                       std::to_string(lines) + " lines");
        }
    }
    return order;
}

std::uint64_t lines_of(const std::vector<Access>& order) {
    std::uint64_t lines = 1;
    for (const Access& a : order) {
        lines = std::max<std::uint64_t>(lines, std::uint64_t{a.line} + 1);
    }
    return lines;
}

OrderWriter::OrderWriter(const std::string& path) : file_(path) {
    if (!file_.created()) {
        fail();
    }
}

void OrderWriter::write(const Access& access) {
    if (!file_.write(&access, sizeof access)) {
        fail();
    }
}

void OrderWriter::close() {
    if (!file_.close() || !file_.take_name()) {
        fail();
    }
}

void OrderWriter::fail() const {
    throw model::Error(file_.path() + ": cannot be written (" + std::strerror(errno) + ")");
}

}  // namespace s80::replay
