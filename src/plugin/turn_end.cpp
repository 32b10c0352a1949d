// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/turn_end.h"

#include <dlfcn.h>

#include "model/types.h"

namespace s80::plugin {

TurnEnd::TurnEnd()
    : exit_(reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "cpu_exit"))),
      // Of a thread-local variable dlsym gives this thread's.
      current_(static_cast<void* const*>(dlsym(RTLD_DEFAULT, "current_cpu"))) {
    if (exit_ == nullptr || current_ == nullptr) {
        throw model::Error(
            "this QEMU was built without loadable modules and does not export cpu_exit, so its time slices "
            "cannot be bounded: use Debian's QEMU or set clock.turn_instructions to 0");
    }
}

}  // namespace s80::plugin
