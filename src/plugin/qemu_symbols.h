// SPDX-License-Identifier: GPL-2.0-or-later
// Finds functions and variables inside QEMU that the plugin interface does not offer. A QEMU with loadable
// modules, like Debian's, exports them. Layouts of structures are those of QEMU 10.0; each class that relies
// on a layout verifies it first.
#pragma once
#include <dlfcn.h>

#include "base/types.h"

namespace s80::plugin {

inline model::Error unknown_qemu() {
    return model::Error(
        "the plugin does not know the time slices and the virtual time of this QEMU, so the guest cannot run "
        "on simulated time: use QEMU 10.0 of Debian 13 or of Debian 12's backports");
}

/// Address of a function or variable of QEMU. Of a thread-local variable: the address of the calling thread's
/// variable. Throws Error if QEMU does not export the symbol.
template <class T>
T find_symbol(const char* name) {
    void* const address = dlsym(RTLD_DEFAULT, name);
    if (address == nullptr) {
        throw unknown_qemu();
    }
    return reinterpret_cast<T>(address);
}

}  // namespace s80::plugin
