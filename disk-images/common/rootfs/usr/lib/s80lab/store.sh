# SPDX-License-Identifier: GPL-2.0-or-later
# The mail in /var/mail-store, in the form that the server wants it in.

s80-mailstore --root /var/mail-store --format "$STORE" --users "$(parameter users 4)" \
    --mailboxes "$(parameter mailboxes 6)" --mailbox-kib "$(parameter mailbox_kib 64)" \
    --seed "$(parameter store_seed 1)" --uid 5000 || fail "the mail store could not be built"
server_prepare

# The kernel moves a page of a file from one list to another when it is read for the first time and for the second: it
# does so here, not while the machine is measured.
for reading in 1 2; do
    find /var/mail-store -type f -exec cat {} + > /dev/null || fail "the mail store cannot be read"
done
