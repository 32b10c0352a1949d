// SPDX-License-Identifier: GPL-2.0-or-later
// The ten transactions of the mail mix, in the order of the paper's Table 1.
#pragma once

#include "imap/imap_client.h"
#include "task.h"
#include "transaction.h"

namespace s80::loadgen {

namespace imap {

enum : TransactionType { CRTE, DELT, RENM, SRCH, SELT, COPY, MOVE, VIEW, SEND, MDEL };

}  // namespace imap

using ImapTransaction = Transaction<ImapClient>;

extern const ImapTransaction create_mailbox, delete_mailbox, rename_mailbox, search_subject, select_and_list,
    copy_message, move_message, view_message, send_message, delete_message;

/// Marks a message of the selected mailbox as deleted and expunges it, for MDEL and MOVE.
///
/// Dovecot 2.3 with mbox sometimes loses a flag when it has to wait for a delivery into the same mailbox: the
/// reply to STORE shows the message without it. The server has reported the loss and done nothing else. The
/// mark is therefore set once more, and the loss is counted separately from errors. A second loss is a
/// failure.
Task mark_and_expunge(ImapClient& client, unsigned message);

}  // namespace s80::loadgen
