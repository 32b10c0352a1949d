// SPDX-License-Identifier: GPL-2.0-or-later
// Who runs: a task, and the system call that it is in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace s80::plugin {

/// Numbered as they come.
class Whos {
public:
    static constexpr int kNoCall = -1;
    /// `call`: number of the system call that it is in, or kNoCall.
    std::uint32_t number(std::uint32_t pid, const std::string& name, int call);
    /// The first ones, as a JSON list.
    std::string json(std::size_t count) const;
    std::size_t size() const { return whos_.size(); }

private:
    using Who = std::tuple<std::uint32_t, std::string, int>;
    std::map<Who, std::uint32_t> numbers_;
    std::vector<Who> whos_;
};

}  // namespace s80::plugin
