# SPDX-License-Identifier: GPL-2.0-or-later
# s80-uw-imapd, with OpenSMTPD before s80-uw-deliver (workloads/servers/uw/README.md).
. /usr/lib/s80lab/smtpd.sh

UW_LOG=/run/uw.log

# The owner of the mail cannot make inbox.lock in a home of root's, so flock() alone is waited for, which its holder's end
# ends: c-client would look for the lock file again each second.
server_prepare() {
    chown root:root /var/mail-store/* && chmod 755 /var/mail-store/* || fail "the owner of the homes cannot be changed to root"
}

server_start() {
    start_server s80-uw-imapd $UW_LOG s80-uw-imapd --listen 127.0.0.1:993 --cert /etc/tls/cert.pem \
        --key /etc/tls/key.pem --passwd /etc/s80-uw-users --mail /var/mail-store/%u --uid 5000
    await 30 "s80-uw-imapd (port 993)" $UW_LOG listens 993
    start_smtpd
}
