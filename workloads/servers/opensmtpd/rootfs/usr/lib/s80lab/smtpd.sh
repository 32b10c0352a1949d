# SPDX-License-Identifier: GPL-2.0-or-later
# OpenSMTPD, for the server.sh of a server that it delivers to.

SMTPD_LOG=/run/smtpd.log

# where the load generator finds it, by turns, and by which it counts the queue
addresses="$addresses $(sed -n 's/^listen on \([0-9.]*\) port 25 .*/--smtp \1:25/p' /etc/smtpd.conf | tr '\n' ' ')"
addresses="$addresses --mail-log $SMTPD_LOG"

start_smtpd() {
    mkdir -p /var/lib/opensmtpd/empty /var/spool/smtpd
    chmod 711 /var/spool/smtpd
    start_server OpenSMTPD $SMTPD_LOG smtpd -d
    await 30 "OpenSMTPD (port 25)" $SMTPD_LOG greets 25 ^220
}
