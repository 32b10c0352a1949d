# SPDX-License-Identifier: GPL-2.0-or-later
# Dovecot, with OpenSMTPD before its LMTP.
. /usr/lib/s80lab/smtpd.sh

DOVECOT_LOG=/run/dovecot.log

accepts_password() { doveadm -o log_path= auth test -x service=imap user001 secret; }

server_prepare() {
    for login in /usr/lib/dovecot/*-login; do
        printf 'service %s {\n  process_min_avail = %s\n  process_limit = %s\n}\n' "${login##*/}" "$cpus" "$cpus"
    done > /run/s80lab/cores.conf
    printf 'service lmtp {\n  process_min_avail = %s\n}\n' "$cpus" >> /run/s80lab/cores.conf
    ! grep -qs '^mail_location = [sm]dbox:' /etc/dovecot/variant.conf || convert_mail
}

# Forms that only Dovecot writes: it makes them itself, as the owner of the mail, out of mbox files. (Dovecot's `backup`
# ends well and copies nothing out of mbox files, so what has arrived is counted.)
convert_mail() {
    filled=0
    for home in /var/mail-store/*; do
        user=${home##*/} count=$(cat "$home/inbox" "$home"/mail/* | grep -c '^From ')
        as_user "import mbox:$home/mail:INBOX=$home/inbox:INDEX=MEMORY '' ALL"
        [ "$(as_user "-f tab mailbox status messages '*'" | awk '{ n += $2 } END { print n }')" = "$count" ] \
            || fail "the mail of $user no longer has $count messages" $DOVECOT_LOG
        rm -r "$home/mail" "$home/inbox"
        filled=$((filled + 1))
        takes_in $filled "$(parameter users 4)"
    done
}

as_user() {
    su vmail -c "USER=$user HOME=$home doveadm -o log_path= $1" 2> $DOVECOT_LOG \
        || fail "the mail of $user cannot be converted" $DOVECOT_LOG
}

server_start() {
    mkdir -p /run/dovecot /var/lib/dovecot
    start_server Dovecot $DOVECOT_LOG dovecot -F
    await 30 "Dovecot (IMAP, port 993)" $DOVECOT_LOG listens 993
    await 30 "Dovecot (LMTP, port 24)" $DOVECOT_LOG greets 24 ^220
    await 30 "Dovecot (accounts)" $DOVECOT_LOG accepts_password
    start_smtpd
}
