// SPDX-License-Identifier: GPL-2.0-or-later
// Functions about the processors of the guest: running on each of them, and priority over the servers.
#pragma once

#include <functional>

namespace s80::loadgen {

/// Calls `visit` once on every CPU, pinned to it. Afterwards the caller may run on its former CPUs again.
void on_each_cpu(const std::function<void(unsigned cpu)>& visit);

/// Gives the caller priority over all processes of the servers. Throws Fatal if this is not allowed.
void run_before_others();

}  // namespace s80::loadgen
