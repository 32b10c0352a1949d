// SPDX-License-Identifier: GPL-2.0-or-later
// The processors of the guest: visited one after the other, and shared with its servers.
#pragma once

#include <functional>

namespace s80::loadgen {

/// Calls `visit` once on every CPU, pinned to it, then lets the caller run again where it might before.
void on_each_cpu(const std::function<void(unsigned cpu)>& visit);

/// The caller runs as soon as it can: before every process of the servers. Throws Fatal where that is not
/// allowed.
void run_before_others();

}  // namespace s80::loadgen
