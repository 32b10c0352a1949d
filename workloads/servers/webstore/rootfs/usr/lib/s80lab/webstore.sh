# SPDX-License-Identifier: GPL-2.0-or-later
# The files that a web server serves, in WEB_STORE.

WEB_STORE=/var/mail-store

build_web_store() {
    document_bytes=$(parameter document_bytes 0)
    # a directory has 36 files, which are 5 MB where they are of four sizes
    directory_kib=4882
    [ "$document_bytes" = 0 ] || directory_kib=$((36 * document_bytes / 1024 + 1))
    directories=$(($(parameter users 4) * $(parameter mailboxes 6) * $(parameter mailbox_kib 64) / directory_kib + 1))
    [ $directories -le 9999 ] || directories=9999  # their names have four digits
    s80-webstore --root $WEB_STORE --directories $directories --users "$(parameter users 4)" \
        --document-bytes "$document_bytes" || fail "the store could not be built"
    # as the mail is (store.sh): no page of a file is to be moved between lists while the machine is measured
    for reading in 1 2; do
        find $WEB_STORE -type f -exec cat {} + > /dev/null || fail "the store cannot be read"
    done
}
