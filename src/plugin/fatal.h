// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the process with one message. Callbacks of QEMU report errors in this way, because exceptions cannot
// pass through QEMU's stack frames.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace s80::plugin {

[[noreturn]] inline void fatal(const char* sentence) {
    std::fprintf(stderr, "s80lab-plugin: %s\n", sentence);
    std::fflush(stderr);
    _exit(1);
}

template <class Fn>
auto guarded(Fn&& fn) -> decltype(fn()) {
    try {
        return fn();
    } catch (const std::exception& e) {
        fatal(e.what());
    }
}

}  // namespace s80::plugin
