# SPDX-License-Identifier: GPL-2.0-or-later
# Courier IMAP, with OpenSMTPD before its maildirs: what Debian's /usr/lib/courier/imapd-ssl does, with the settings of its
# /etc/courier/imapd but for locks. These are for several sessions of one user, who wait for them by FAM; here a user has
# one, and there is no FAM (each session says so once).
. /usr/lib/s80lab/smtpd.sh

COURIER_LOG=/run/courier.log
SESSIONS=1100

imap_settings() {
    export IMAP_CAPABILITY="IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE"
    export IMAP_CAPABILITY_TLS="$IMAP_CAPABILITY AUTH=PLAIN" IMAP_TLS=1 IMAP_KEYWORDS=1 IMAP_ACL=1 IMAP_USELOCKS=0
    export IMAP_IDLE_TIMEOUT=60 IMAP_MAILBOX_SANITY_CHECK=1 IMAP_EMPTYTRASH=Trash:7 IMAP_TRASHFOLDERNAME=Trash
    export TLS_CERTFILE=/run/courier/server.pem TLS_VERIFYPEER=NONE TLS_PRIORITY=NORMAL:-VERS-ALL:+VERS-TLS1.3
}

imapd_ssl() {
    imap_settings
    exec couriertcpd -address=127.0.0.1 -maxprocs=$SESSIONS -maxperip=$SESSIONS -nodnslookup -noidentlookup 993 \
        /usr/bin/couriertls -server -tcpd -user=courier \
        /usr/bin/s80-below-inbox /usr/lib/courier/courier/imaplogin /usr/bin/imapd Maildir
}

server_start() {
    mkdir -p /run/courier/authdaemon
    cat /etc/tls/key.pem /etc/tls/cert.pem > /run/courier/server.pem
    chown -R courier:courier /run/courier && chmod 600 /run/courier/server.pem
    start_server "Courier's authdaemond" $COURIER_LOG /usr/lib/courier/courier-authlib/authdaemond
    await 30 "Courier (accounts)" $COURIER_LOG test -S /run/courier/authdaemon/socket
    start_server Courier $COURIER_LOG imapd_ssl
    await 30 "Courier (IMAP, port 993)" $COURIER_LOG listens 993
    start_smtpd
}
