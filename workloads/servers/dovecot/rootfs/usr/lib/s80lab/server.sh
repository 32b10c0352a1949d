# SPDX-License-Identifier: GPL-2.0-or-later
# Dovecot, with OpenSMTPD before its LMTP.
. /usr/lib/s80lab/smtpd.sh

DOVECOT_LOG=/run/dovecot.log

accepts_password() { doveadm -o log_path= auth test -x service=imap user001 secret; }

server_prepare() {
    for login in /usr/lib/dovecot/*-login; do
        printf 'service %s {\n  process_min_avail = %s\n  process_limit = %s\n}\n' "${login##*/}" "$cpus" "$cpus"
    done > /run/s80lab/cores.conf
    ! grep -qs '^mail_location = [sm]dbox:' /etc/dovecot/variant.conf || convert_mail
}

# Forms that only Dovecot writes: it makes them itself, as the owner of the mail, out of mbox files.
convert_mail() {
    for home in /var/mail-store/*; do
        user=${home##*/} mboxes="mbox:$home/mail:INBOX=$home/inbox:INDEX=MEMORY"
        su vmail -c "USER=$user HOME=$home doveadm -o log_path= backup -R $mboxes" > $DOVECOT_LOG 2>&1 \
            || fail "the mail of $user could not be converted" $DOVECOT_LOG
        rm -r "$home/mail" "$home/inbox"
    done
}

server_start() {
    mkdir -p /run/dovecot /var/lib/dovecot
    dovecot -F 2> $DOVECOT_LOG &
    await 30 "Dovecot (IMAP, port 993)" $DOVECOT_LOG listens 993
    await 30 "Dovecot (LMTP, port 24)" $DOVECOT_LOG greets 24 ^220
    await 30 "Dovecot (accounts)" $DOVECOT_LOG accepts_password
    start_smtpd
}
