// SPDX-License-Identifier: GPL-2.0-or-later
// The ten transactions of the mail mix, in the order of the paper's Table 1.
#pragma once

#include "imap/imap_client.hpp"
#include "transaction.hpp"

namespace s80::loadgen {

namespace imap {

enum : TransactionType { CRTE, DELT, RENM, SRCH, SELT, COPY, MOVE, VIEW, SEND, MDEL };

}  // namespace imap

using ImapTransaction = Transaction<ImapClient>;

extern const ImapTransaction create_mailbox, delete_mailbox, rename_mailbox, search_subject, select_and_list,
    copy_message, move_message, view_message, send_message, delete_message;

}  // namespace s80::loadgen
