# SPDX-License-Identifier: GPL-2.0-or-later
# Begun in a root folder that holds a guest's image, in namespaces of its own: what the guest's init does of a server,
# then the load generator of this machine with the job in /job; its events go to stdout, all else to stderr.
# USERS, MAILBOXES, MAILBOX_KIB size the mail store, DOCUMENT_BYTES the files of a web server.

fail() {
    [ ! -s "$2" ] || cat "$2"
    echo "FAILED $1"
    exit 1
} >&2

/bin/busybox mkdir -p /bin /sbin /usr/bin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TZ=UTC0
exec 3>&1 >&2
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=755 mail /var/mail-store
mkdir -p /run/s80lab
hostname mail.s80.example
ip link set lo up
ulimit -n "$(ulimit -H -n)"
. /usr/lib/s80lab/functions.sh
parameter() {
    case $1 in
        users) echo "$USERS" ;;
        mailboxes) echo "$MAILBOXES" ;;
        mailbox_kib) echo "$MAILBOX_KIB" ;;
        document_bytes) echo "$DOCUMENT_BYTES" ;;
        *) echo "$2" ;;
    esac
}
cpus=2
addresses=""
loadgen="s80-loadgen --job /job --insecure"
server_prepare() { :; }
settle_storage() { :; }
. /usr/lib/s80lab/server.conf
. /usr/lib/s80lab/server.sh
[ "$STORE" = none ] || . /usr/lib/s80lab/store.sh
server_start
$loadgen $addresses >&3 || {
    code=$?
    tail -n 20 /run/*.log  # what the server says of it
    exit $code
}
[ ! -f /run/smtpd.log ] || cat /run/smtpd.log
awk '/^Ip: [0-9]/ { print "forwarded " $7 }' /proc/net/snmp  # packets, by this namespace
