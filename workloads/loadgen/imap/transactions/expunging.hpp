// SPDX-License-Identifier: GPL-2.0-or-later
// Removal of a message, for MDEL and MOVE.
#pragma once

#include "imap/imap_client.hpp"
#include "task.hpp"

namespace s80::loadgen {

/// Marks a message of the selected mailbox as deleted and expunges it.
///
/// Dovecot 2.3 with mbox sometimes loses a flag when it has to wait for a delivery into the same mailbox: the
/// reply to STORE shows the message without it. The server has reported the loss and done nothing else. The
/// mark is therefore set once more, and the loss is counted separately from errors. A second loss is a
/// failure.
Task mark_and_expunge(ImapClient& client, unsigned message);

}  // namespace s80::loadgen
