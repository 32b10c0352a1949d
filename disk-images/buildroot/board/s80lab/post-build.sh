#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The target folder as the guest's init expects it. $1: the folder.
set -eu

# Buildroot has Dovecot's programs in /usr/libexec; server.sh finds the names of the login services where Debian has them.
mkdir -p "$1/usr/lib/dovecot"
for login in "$1"/usr/libexec/*-login; do
    ln -sfn "../../libexec/${login##*/}" "$1/usr/lib/dovecot/${login##*/}"
done

# OpenSMTPD does not start without a list of authorities; the guest's only speaks to its own server.
mkdir -p "$1/etc/ssl/certs"
[ -s "$1/etc/ssl/certs/ca-certificates.crt" ] || echo "# none" > "$1/etc/ssl/certs/ca-certificates.crt"

# init makes busybox's links itself; of theirs only the shell stays.
find "$1" -type l -lname '*busybox' ! -path "$1/bin/sh" ! -path "$1/usr/bin/sh" -delete

# Examples and start scripts: each megabyte is unpacked by the guest at boot.
rm -rf "$1/etc/init.d" "$1/etc/ssl/misc" "$1/usr/share/dovecot/stopwords" "$1/usr/share/doc"
