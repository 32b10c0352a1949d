// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/allocations.h"

#include <fstream>
#include <sstream>

#include "base/types.h"
#include "plugin/fatal.h"
#include "plugin/recorder.h"

namespace s80::plugin {

namespace {

void on_entry(unsigned, void* size) {
    guarded([size] {
        recorder().allocation_begins(static_cast<Allocations::Size>(reinterpret_cast<std::uintptr_t>(size)));
    });
}

void on_return(unsigned, void*) {
    guarded([] { recorder().allocation_ends(); });
}

}  // namespace

Allocations::Allocations(const std::string& path) {
    if (path.empty()) {
        return;
    }
    const std::map<std::string, Size> sizes{
        {"first", Size::first}, {"second", Size::second}, {"product", Size::product}};
    std::ifstream file(path);
    std::string line;
    for (unsigned number = 1; std::getline(file, line); ++number) {
        std::istringstream words(line);
        std::uint64_t begin = 0;
        Function function;
        std::string size;
        if (!(words >> std::hex >> begin >> function.end >> size) || begin >= function.end ||
            !sizes.contains(size)) {
            throw model::Error(path + ": line " + std::to_string(number) +
                               " is not a function of an allocator: write BEGIN END first|second|product");
        }
        function.size = sizes.at(size);
        functions_[begin] = function;
    }
    if (functions_.empty()) {
        throw model::Error(path + ": has no function of an allocator");
    }
}

void Allocations::translated(qemu_plugin_insn* insn, std::uint64_t physical, bool returns) {
    auto function = functions_.upper_bound(physical);
    if (function == functions_.begin()) {
        return;
    }
    --function;
    if (physical >= function->second.end) {
        return;
    }
    if (physical == function->first) {
        const auto size = static_cast<std::uintptr_t>(function->second.size);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_entry, QEMU_PLUGIN_CB_R_REGS,
                                               reinterpret_cast<void*>(size));
    }
    if (returns) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, QEMU_PLUGIN_CB_R_REGS, nullptr);
    }
}

void Allocations::entered(Size size, const Call& call) {
    const std::uint64_t bytes = size == Size::first    ? call.first
                                : size == Size::second ? call.second
                                                       : call.first * call.second;
    pending_[{call.table, call.stack}] = {0, bytes, call.caller};
}

std::optional<Allocations::Object> Allocations::returned(const Call& call) {
    const auto it = pending_.find({call.table, call.stack});
    if (it == pending_.end()) {
        return std::nullopt;
    }
    Object object = it->second;
    pending_.erase(it);
    object.begin = call.result;
    if (object.begin == 0) {
        return std::nullopt;
    }
    Object& last = last_[{call.table, object.begin}];
    if (last == object) {
        return std::nullopt;
    }
    last = object;
    return object;
}

}  // namespace s80::plugin
