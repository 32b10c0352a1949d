# SPDX-License-Identifier: GPL-2.0-or-later
# Cyrus IMAP, with OpenSMTPD before its LMTP.
. /usr/lib/s80lab/smtpd.sh

CYRUS_LOG=/run/cyrus.log

# Nobody but Cyrus writes its store: it runs, and each user's mail comes in by IMAP.
server_prepare() {
    mkdir -p /var/lib/cyrus /run/cyrus
    chown cyrus:cyrus /var/lib/cyrus /run/cyrus /var/mail-store /etc/tls/key.pem
    start_server Cyrus $CYRUS_LOG /usr/lib/cyrus/bin/master -C /etc/imapd.conf -M /etc/cyrus.conf -D
    await 60 "Cyrus (IMAP, port 143)" $CYRUS_LOG greets 143 "OK"
    filled=0
    for script in /var/mail-store/*.imap; do
        nc 127.0.0.1 143 < "$script" > /run/cyrus-filled
        last=$(tail -n 1 "$script" | cut -d ' ' -f 1)
        grep -q "^$last OK" /run/cyrus-filled && ! grep -q "^a[0-9]* \(NO\|BAD\)" /run/cyrus-filled \
            || fail "Cyrus did not accept the mail of ${script##*/}" /run/cyrus-filled
        rm "$script"
        filled=$((filled + 1))
        takes_in $filled "$(parameter users 4)"
    done
}

server_start() {
    await 60 "Cyrus (IMAP, port 993)" $CYRUS_LOG listens 993
    await 60 "Cyrus (LMTP, port 24)" $CYRUS_LOG greets 24 ^220
    start_smtpd
}
