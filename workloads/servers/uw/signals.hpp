// SPDX-License-Identifier: GPL-2.0-or-later
// Signals of a session. They are taken only while it waits for its client, so that none interrupts c-client
// in the middle of a mailbox.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace s80::uw {

/// Blocks SIGTERM, SIGINT, SIGHUP and SIGUSR2 (with which c-client asks another process for a mailbox's lock)
/// and ignores SIGPIPE.
void hold_signals();

/// SIGTERM for this process when its parent, whose number this is, ends. To be asked for again after
/// setuid().
void end_with_parent(pid_t parent);

/// The mask to wait with: those four come through.
const sigset_t& waiting_mask();

/// Why the session is to end; nullptr while it is not.
const char* farewell();

}  // namespace s80::uw
