# SPDX-License-Identifier: GPL-2.0-or-later
# host.sh NAME NUMBER PROCESSORS: in a new network namespace, the host's end of its cable; the other end goes to the router,
# which is where process 1 is.
set -e
. /usr/lib/s80lab/steer.sh
ip link set lo up
ip link add "$1" type veth
ip link set veth0 name "to-$1"
ip link set "to-$1" netns 1
# Frames cross the router as they would a wire: of 1500 bytes, not in pieces of 64 KB.
ethtool -K "$1" tso off > /dev/null
ip addr add "10.0.$2.2/24" dev "$1"
ip link set "$1" up
ip route add default via "10.0.$2.1"
# a sysfs shows the interfaces of the namespace that it was mounted in
sys=/run/sys-$1
mkdir "$sys"
mount -t sysfs sys "$sys"
steer "$1" "$3" "$sys"
umount "$sys"
