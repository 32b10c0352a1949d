# SPDX-License-Identifier: GPL-2.0-or-later
# What init and the server's part of it have in common. `fail REASON [LOG]` is init's.

say() { echo "s80lab: $*"; }

# parameter NAME DEFAULT: s80.NAME from the kernel's command line
parameter() {
    for word in $(cat /proc/cmdline); do
        case $word in s80."$1"=*) echo "${word#*=}"; return ;; esac
    done
    echo "$2"
}

# start_server NAME LOG COMMAND...: run the command in the background; LOG takes its output. `await` notices its end.
SERVERS=/run/s80lab/servers
start_server() {
    local name=$1 log=$2
    shift 2
    "$@" >> "$log" 2>&1 &
    echo "$! $log $name" >> $SERVERS
}

# Fail if a server has ended that start_server started.
check_servers() {
    [ -e $SERVERS ] || return 0
    local process log name words
    while read -r process log name; do
        grep -qs '^State:.[^XZ]' "/proc/$process/status" && continue
        words=$(tail -n 1 "$log")
        fail "$name ended: ${words:-its log is empty}" "$log"
    done < $SERVERS
}

# await SECONDS WHAT LOG COMMAND...: until the command succeeds; a failure names WHAT
await() {
    deadline=$(($(date +%s) + $1)) what=$2 what_log=$3
    shift 3
    say "waiting for $what"
    until "$@" > /dev/null 2>&1; do
        check_servers
        [ "$(date +%s)" -lt "$deadline" ] || fail "$what does not answer" "$what_log"
        usleep 20000
    done
}

# greets PORT BANNER: does the server on this port say hello? (the input is held open until it has spoken)
greets() { sleep 1 | nc -w 1 127.0.0.1 "$1" | grep -q "$2"; }
listens() { grep -q "0100007F:$(printf %04X "$1") 00000000:0000 0A" /proc/net/tcp; }

# takes_in DONE OF: how much of its mail the server has taken in, where it fills its store itself: this takes long, and
# a guest that says nothing is given up
takes_in() { say "server takes in its mail $(($1 * 100 / $2))%"; }
