// SPDX-License-Identifier: GPL-2.0-or-later
// The profile of the measured region: which code was executed, sampled at a fixed distance of instructions
// (docs/reference/interfaces/profile.md).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "base/types.h"
#include "plugin/whos.h"

namespace s80::plugin {

class Profile {
public:
    /// Distance between two samples of a processor, in instructions. A prime number, so that samples do not
    /// fall on the same instruction of a loop each time.
    static constexpr std::uint64_t kPeriod = 10007;
    /// Distance between two sampled conditional branches of a processor, in conditional branches.
    static constexpr std::uint64_t kBranchPeriod = 101;

    explicit Profile(std::string path) : path_(std::move(path)) {}
    /// Counts a sample. `block`: virtual address of the running block. `who`: index of its task (Whos).
    void sample(std::uint64_t block, std::uint32_t who, model::Context context) {
        ++counts_[{who, context.value, block}];
    }
    void branch(unsigned privilege, bool taken) { ++branches_[privilege][taken ? 1 : 0]; }
    /// Writes the complete file, with the list of tasks. Throws model::Error.
    void finish(const Whos& whos) const;

private:
    std::string path_;
    std::array<std::array<std::uint64_t, 2>, model::kPrivileges> branches_{};
    std::map<std::tuple<std::uint32_t, decltype(model::Context::value), std::uint64_t>, std::uint64_t>
        counts_;
};

}  // namespace s80::plugin
