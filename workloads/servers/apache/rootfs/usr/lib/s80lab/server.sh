# SPDX-License-Identifier: GPL-2.0-or-later
# Apache, with a store of files that is as large as the mail would be.

APACHE_LOG=/run/apache2.log
WEB_STORE=/var/mail-store

server_start() {
    users=$(parameter users 4)
    # a directory is 5 MB
    directories=$((users * $(parameter mailboxes 6) * $(parameter mailbox_kib 64) / 4882 + 1))
    s80-webstore --root $WEB_STORE --directories $directories --users "$users" || fail "the store could not be built"
    # as the mail is (store.sh): no page of a file is to be moved between lists while the machine is measured
    for reading in 1 2; do
        find $WEB_STORE -type f -exec cat {} + > /dev/null || fail "the store cannot be read"
    done
    env S80_RUN=/run S80_USER=www-data S80_GROUP=www-data S80_CLIENTS="$users" S80_PORT=443 S80_CERT=/etc/tls \
        S80_STORE=$WEB_STORE S80_PAGE=/usr/bin/s80-page \
        apache2 -D FOREGROUND -f /etc/apache2/apache2.conf > $APACHE_LOG 2>&1 &
    await 30 "Apache (port 443)" $APACHE_LOG listens 443
}
