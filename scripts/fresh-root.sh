# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for scripts that try the last commit in a fresh Debian root: scripts/trixie and scripts/first-minute source this
# file. They run as root and need mmdebstrap.

# unpack_root NAME SUITE PACKAGES: a minimal root of the suite in build/NAME, with these packages and a clone in /s80lab.
unpack_root() {
    local name=$1 suite=$2 packages=$3
    root=$PWD/build/$name
    [[ $(id -u) == 0 ]] || { echo "$name: only root can enter another Debian root; run it as root" >&2; exit 2; }
    scripts/setup
    local mirror keyring
    mirror=$(build/venv/bin/python -c 'from s80lab.image.packages import debian_mirror; print(debian_mirror())')
    keyring=$(build/venv/bin/python -c 'from s80lab.image.packages import KEYRING; print(KEYRING)')
    echo "$name: unpacking a root of $suite into build/$name"
    rm -rf "$root"
    mkdir -p build
    mmdebstrap --quiet --variant=minbase --include="$packages" "$suite" "$root" "deb [signed-by=$keyring] $mirror $suite main"
    # No server of a package starts by itself.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    git clone --quiet . "$root/s80lab"
    # The root uses this machine's network: its name servers, and the certificates that it trusts.
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    if [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then
        mkdir -p "$root/etc/ssl/certs"
        cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    fi
}

# in_root STEPS [USER]: runs shell commands in the clone of the root that unpack_root made, as root or as USER.
in_root() {
    # Settings of the laboratory and of its build belong to this clone, not to the new user.
    unset "${!S80LAB_@}" "${!CMAKE_@}" PIP_FIND_LINKS
    # Namespaces of their own: whatever ends this script ends every process and every mount of the root.
    root=$root steps=$1 user=${2:-root} unshare --mount --pid --fork --kill-child --propagation private bash -euc '
        mount -t proc proc "$root/proc"
        mount -t sysfs sys "$root/sys"
        mount --rbind /dev "$root/dev"
        export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        home=$(chroot "$root" getent passwd "$user" | cut -d: -f6)
        exec env HOME="$home" chroot --userspec="$user:" "$root" bash -euc "cd /s80lab; $steps"'
}
