// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/profile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "plugin/json.h"
#include "stats/statistics.h"

namespace s80::plugin {

void Profile::finish(const Whos& whos) const {
    using model::Dim;
    const std::string partial = path_ + ".partial";
    std::ofstream out(partial);
    out << "{\"period\":" << kPeriod << ",\"labels\":{\"class\":" << array(model::labels(Dim::process_class))
        << ",\"entry\":" << array(model::labels(Dim::entry)) << "},\"whos\":" << whos.json(whos.size())
        << ",\n\"branches\":{";
    const auto privileges = model::labels(Dim::privilege);
    for (unsigned p = 0; p < model::kPrivileges; ++p) {
        const auto [not_taken, taken] = branches_[p];
        out << (p == 0 ? "" : ",") << quoted(privileges[p]) << ":{\"not_taken\":" << not_taken
            << ",\"taken\":" << taken << '}';
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
