# SPDX-License-Identifier: GPL-2.0-or-later
# What the guest says of itself when it is asked to (boot parameter s80.check=facts, lookups or both with a comma), for
# the tests of the image. Lines of the console: "s80check: NAME VALUE".

fact() { echo "s80check: $*"; }

# Of every processor: which others share one of its caches, and the flags of its smallest scheduling domain.
check_caches() {
    for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
        fact "cache ${cpu##*/cpu} $(cat "$cpu"/cache/index*/shared_cpu_list | sort -u | tr '\n' ' ')"
    done
    mount -t debugfs -o noatime debug /sys/kernel/debug
    for domain in /sys/kernel/debug/sched/domains/cpu*/domain0; do  # with sched_verbose
        [ ! -e "$domain/flags" ] || fact "domain $(cat "$domain/min_interval") $(cat "$domain/flags")"
    done
}

# The handler of each processor's timer: hrtimer_interrupt if the timer has a high resolution.
check_timers() {
    sed -n 's/^ event_handler: *//p' /proc/timer_list | while read -r handler; do fact "timer $handler"; done
}

check_facts() {
    check_caches
    check_timers
    while read -r _ point _ options _; do fact "mount $point $options"; done < /proc/mounts
    fact "clocksource $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
    fact "activations $(grep -w pgactivate /proc/vmstat | cut -d ' ' -f 2)"
    fact "timezone $TZ"
    while read -r name kib _; do fact "memory ${name%:} $kib"; done < /proc/meminfo
    fact "cmdline $(cat /proc/cmdline)"
}

# From here on a line on the console for each name that the kernel looked up in a directory in vain, or made:
# "lookup: (d_alloc_parallel+0x0/...) directory="etc" name="localtime"". A tmpfs keeps no memory of absent names, so each
# time a directory entry is allocated, under the lock of the directory.
check_lookups() {
    mount -t tracefs -o noatime trace /sys/kernel/tracing
    cd /sys/kernel/tracing || fail "no tracefs"
    # offsets of struct dentry's d_name.name and of struct qstr's name
    echo 'p:lookup d_alloc_parallel directory=+0(+40(%di)):string name=+0(+8(%si)):string' > kprobe_events
    echo 1 > events/kprobes/lookup/enable || fail "no trace of look-ups"
    cat trace_pipe > /dev/ttyS0 &
    cd /
}

check_guest() {
    for check in $(echo "$1" | tr , ' '); do
        case $check in
            facts) check_facts ;;
            lookups) check_lookups ;;
            *) fail "unknown check: $check" ;;
        esac
    done
}
