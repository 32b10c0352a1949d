// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers the pairs of task and system call that occur (`who`).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace s80::plugin {

/// Numbers are assigned in the order of first occurrence.
class Whos {
public:
    static constexpr int kNoCall = -1;
    /// task: [pid, name, call]. process: [pid, name, call, tgid].
    enum class Form : std::uint8_t { task, process };
    /// `call`: number of the task's current system call, or kNoCall. `tgid`: the process of the task.
    std::uint32_t number(std::uint32_t pid, const std::string& name, int call, std::uint32_t tgid);
    /// The first `count` ones, as a JSON list.
    std::string json(std::size_t count, Form form = Form::task) const;
    std::size_t size() const { return whos_.size(); }

private:
    using Who = std::tuple<std::uint32_t, std::string, int, std::uint32_t>;
    std::map<Who, std::uint32_t> numbers_;
    std::vector<Who> whos_;
};

}  // namespace s80::plugin
