// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/profile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/json.h"

namespace s80::plugin {

void Profile::finish(const Whos& whos) const {
    using model::array;
    using model::kLabels;
    const std::string partial = path_ + ".partial";
    std::ofstream out(partial);
    out << "{\"period\":" << kPeriod << ",\"labels\":{\"class\":" << array(kLabels<model::ProcessClass>)
        << ",\"entry\":" << array(kLabels<model::KernelEntry>) << "},\"whos\":" << whos.json(whos.size())
        << ",\n\"branches\":{";
    for (unsigned p = 0; p < model::kPrivileges; ++p) {
        const auto [not_taken, taken] = branches_[p];
        out << (p == 0 ? "" : ",") << model::quoted(kLabels<model::Privilege>[p])
            << ":{\"not_taken\":" << not_taken << ",\"taken\":" << taken << '}';
    }
    out << "},\n\"samples\":[";
    const char* between = "\n";
    for (const auto& [key, count] : counts_) {
        const auto& [who, context, block] = key;
        out << between << '[' << block << ',' << who << ',' << unsigned{context} << ',' << count << ']';
        between = ",\n";
    }
    out << "]}\n";
    out.close();
    if (!out || std::rename(partial.c_str(), path_.c_str()) != 0) {
        throw model::Error("the profile " + path_ + " cannot be written: " + std::strerror(errno));
    }
}

}  // namespace s80::plugin
