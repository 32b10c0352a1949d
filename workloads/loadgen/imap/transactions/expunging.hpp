// SPDX-License-Identifier: GPL-2.0-or-later
// How MDEL and MOVE get rid of a message.
#pragma once

#include "imap/imap_client.hpp"
#include "task.hpp"

namespace s80::loadgen {

/// Marks a message of the selected mailbox as deleted and expunges it.
///
/// Dovecot 2.3 with mbox loses a flag now and then when it has to wait for a delivery into the same
/// mailbox: the reply to STORE shows the message without it. The server has said so and done
/// nothing else, so the mark is set once more and the loss is counted beside the errors; a second
/// one is a failure.
Task mark_and_expunge(ImapClient& client, unsigned message);

}  // namespace s80::loadgen
