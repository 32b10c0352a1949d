// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the process with one message. QEMU's stack frames cannot carry C++ exceptions, so callbacks report
// errors in this way.
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
