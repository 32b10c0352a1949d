// SPDX-License-Identifier: GPL-2.0-or-later
// How callbacks of QEMU report an error: with one message on stderr and the end of the process. Exceptions
// must not leave a callback, because they cannot pass through QEMU's stack frames.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace s80::plugin {

/// Prints the message and ends the process with exit code 1.
[[noreturn]] inline void fatal(const char* sentence) {
    std::fprintf(stderr, "s80lab-plugin: %s\n", sentence);
    std::fflush(stderr);
    _exit(1);
}

/// Calls `fn` and returns its result. An exception of `fn` is fatal.
template <class Fn>
auto guarded(Fn&& fn) -> decltype(fn()) {
    try {
        return fn();
    } catch (const std::exception& e) {
        fatal(e.what());
    }
}

}  // namespace s80::plugin
