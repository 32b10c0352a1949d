// SPDX-License-Identifier: GPL-2.0-or-later
// Signals of a session. They are delivered only while the session waits for its client, so that they cannot
// interrupt c-client in the middle of a mailbox.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace s80::uw {

/// Blocks SIGTERM, SIGINT, SIGHUP and SIGUSR2 (with which c-client asks another process for a mailbox's lock)
/// and ignores SIGPIPE.
void hold_signals();

/// Requests SIGTERM for this process when its parent, with this id, ends. Must be requested again after
/// setuid().
void end_with_parent(pid_t parent);

/// The signal mask for waiting: the four signals are delivered.
const sigset_t& waiting_mask();

/// The reason to end the session, or nullptr.
const char* farewell();

}  // namespace s80::uw
