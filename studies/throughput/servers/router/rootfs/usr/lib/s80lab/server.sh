# SPDX-License-Identifier: GPL-2.0-or-later
# Three hosts in one guest: left (the load generator), the router, which is the guest itself, and right (the sink). Each
# is a network namespace with processors of its own: the router has the first, left the last, right those between them;
# where there are too few, hosts share.
. /usr/lib/s80lab/steer.sh

SINK_LOG=/run/sink.log

# host NAME NUMBER PROCESSORS: a host 10.0.NUMBER.2 on a cable to the router, which is 10.0.NUMBER.1 there
host() {
    : > "/run/$1"
    unshare --net="/run/$1" sh /usr/lib/s80lab/host.sh "$1" "$2" "$3" || fail "host $1 could not be created"
    ip link set "to-$1" up && ip addr add "10.0.$2.1/24" dev "to-$1" || fail "the router's interface to $1 cannot be set up"
    steer "to-$1" 1
}

server_start() {
    veth=/lib/modules/$(uname -r)/kernel/drivers/net/veth.ko
    [ ! -e "$veth" ] || insmod "$veth" || fail "the kernel module veth cannot be loaded"  # else it has it built in
    # processors as masks, a bit each
    left=$((1 << (cpus - 1)))
    right=$((cpus > 2 ? left - 2 : left))
    host left 1 $left
    host right 2 $right
    echo 1 > /proc/sys/net/ipv4/ip_forward || fail "the kernel does not forward"
    start_server "the sink" $SINK_LOG nsenter --net=/run/right taskset "$(printf '%x' $right)" s80-sink 10.0.2.2:5001
    await 10 "the sink (port 5001)" $SINK_LOG grep -q '^port 5001$' $SINK_LOG
    nsenter --net=/run/left ping -c 1 -w 5 10.0.2.2 > /run/ping.log 2>&1 || fail "host left cannot reach host right" /run/ping.log
    loadgen="nsenter --net=/run/left $loadgen"
}
