// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers the tasks with their system calls. Records of misses and samples name a task by such a number
// (`who`).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace s80::plugin {

/// A number stands for a task and the system call that it executes. Numbers are given in the order of first
/// occurrence, from 0.
class Whos {
public:
    static constexpr int kNoCall = -1;
    /// What json() writes for each number. `task`: [pid, name, call]. `process`: [pid, name, call, tgid].
    enum class Form : std::uint8_t { task, process };
    /// Returns the number of a task. `call`: number of the system call that it executes, or kNoCall. `tgid`:
    /// its process.
    std::uint32_t number(std::uint32_t pid, const std::string& name, int call, std::uint32_t tgid);
    /// The first `count` numbers, as a JSON list.
    std::string json(std::size_t count, Form form = Form::task) const;
    std::size_t size() const { return whos_.size(); }

private:
    using Who = std::tuple<std::uint32_t, std::string, int, std::uint32_t>;
    std::map<Who, std::uint32_t> numbers_;
    std::vector<Who> whos_;
};

}  // namespace s80::plugin
