// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/guest_ram.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/types.h"

namespace s80::plugin {

namespace {
constexpr std::uint64_t kHighRam = std::uint64_t{1} << 32;
}

void GuestRam::find_mappings() {
    if (!mappings_.empty()) {
        return;
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::string range, permissions, offset, device, inode, path;
        fields >> range >> permissions >> offset >> device >> inode;
        std::getline(fields >> std::ws, path);
        if (path != name_) {
            continue;
        }
        const auto dash = range.find('-');
        mappings_.push_back({std::stoull(range.substr(0, dash), nullptr, 16),
                             std::stoull(range.substr(dash + 1), nullptr, 16),
                             std::stoull(offset, nullptr, 16)});
    }
    if (mappings_.empty()) {
        throw model::Error("the guest's RAM '" + name_ + "' is not mapped into QEMU");
    }
}

std::uint64_t GuestRam::to_physical(std::uint64_t offset) const {
    return low_ram_ == 0 || offset < low_ram_ ? offset : offset - low_ram_ + kHighRam;
}

std::optional<std::uint64_t> GuestRam::physical(const void* host) {
    find_mappings();
    const auto address = reinterpret_cast<std::uint64_t>(host);
    for (const Mapping& m : mappings_) {
        if (address >= m.begin && address < m.end) {
            return to_physical(address - m.begin + m.offset);
        }
    }
    return std::nullopt;
}

std::uint8_t* GuestRam::host(std::uint64_t physical) {
    find_mappings();
    const std::uint64_t offset =
        low_ram_ != 0 && physical >= kHighRam ? physical - kHighRam + low_ram_ : physical;
    for (const Mapping& m : mappings_) {
        if (offset >= m.offset && offset < m.offset + (m.end - m.begin)) {
            return reinterpret_cast<std::uint8_t*>(m.begin + (offset - m.offset));
        }
    }
    return nullptr;
}

std::uint64_t GuestRam::end() {
    find_mappings();
    std::uint64_t last = 0;
    for (const Mapping& m : mappings_) {
        last = std::max(last, to_physical(m.offset + (m.end - m.begin) - 1) + 1);
    }
    return last;
}

}  // namespace s80::plugin
