# SPDX-License-Identifier: GPL-2.0-or-later
# The mail in /var/mail-store, in the form that the server wants it in.

s80-mailstore --root /var/mail-store --format "$STORE" --users "$(parameter users 4)" \
    --mailboxes "$(parameter mailboxes 6)" --mailbox-kib "$(parameter mailbox_kib 64)" \
    --seed "$(parameter store_seed 1)" --uid 5000 || fail "the mail store could not be built"
server_prepare
settle_storage
