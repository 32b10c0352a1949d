// SPDX-License-Identifier: GPL-2.0-or-later
// The profile of the measured region: the executed code, sampled by instructions
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
    /// Instructions of a processor between two samples. A prime, so that the samples do not keep step with a
    /// loop.
    static constexpr std::uint64_t kPeriod = 10007;
    /// Conditional branches of a processor between two sampled ones.
    static constexpr std::uint64_t kBranchPeriod = 101;

    explicit Profile(std::string path) : path_(std::move(path)) {}
    /// `block`: virtual address of the running block.
    void sample(std::uint64_t block, std::uint32_t who, model::Context context) {
        ++counts_[{who, context.value, block}];
    }
    void branch(unsigned privilege, bool taken) { ++branches_[privilege][taken ? 1 : 0]; }
    /// Writes the complete file. Throws model::Error.
    void finish(const Whos& whos) const;

private:
    std::string path_;
    std::array<std::array<std::uint64_t, 2>, model::kPrivileges> branches_{};
    std::map<std::tuple<std::uint32_t, decltype(model::Context::value), std::uint64_t>, std::uint64_t>
        counts_;
};

}  // namespace s80::plugin
