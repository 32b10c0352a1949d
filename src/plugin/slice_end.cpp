// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slice_end.h"

#include <dlfcn.h>

#include "model/types.h"

namespace s80::plugin {

SliceEnd::SliceEnd()
    : exit_(reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "cpu_exit"))),
      restore_(
          reinterpret_cast<void (*)(void*, std::uintptr_t)>(dlsym(RTLD_DEFAULT, "cpu_loop_exit_restore"))),
      // Of a thread-local variable dlsym gives this thread's.
      current_(static_cast<void* const*>(dlsym(RTLD_DEFAULT, "current_cpu"))) {
    if (exit_ == nullptr || restore_ == nullptr || current_ == nullptr) {
        throw model::Error(
            "this QEMU was built without loadable modules and does not export cpu_exit, so its time slices "
            "cannot be bounded: use QEMU 10.0 of Debian 13 or of Debian 12's backports");
    }
}

}  // namespace s80::plugin
