// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sums_file.h"

#include <algorithm>

namespace s80::plugin {

using model::MissKey;
using model::MissSum;

void SumsFile::write(const model::MissSums& sums, const Measured& measured, const model::Machine& machine,
                     const Whos& whos) {
    std::size_t last = 0;  // number of entries of `whos` that the sums need: the highest `who` plus one
    std::uint64_t lines = 0;
    std::uint64_t pages = 0;
    std::uint64_t ranges = 0;
    for (const MissSum& sum : sums.sums()) {
        if (sum.key.who != MissKey::kNoWho) {
            last = std::max(last, sum.key.who + std::size_t{1});
        }
        (sum.key.range == 0 ? lines : sum.key.range == MissKey::kPage ? pages : ranges) += sum.count;
    }
    file_.put(sums.sums().data(), sums.sums().size_bytes());
    file_.finish(
        '{' + request_labels(machine) + ",\"complete\":" + (measured.complete ? "true" : "false") +
        ",\"regions\":" + std::to_string(measured.regions) + ",\"limit\":" + std::to_string(sums.limit()) +
        ",\"requests\":{\"line\":" + std::to_string(lines) + ",\"page\":" + std::to_string(pages) +
        ",\"range\":" + std::to_string(ranges) + "},\"whos\":" + whos.json(last, Whos::Form::process) + '}');
}

}  // namespace s80::plugin
