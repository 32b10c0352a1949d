# SPDX-License-Identifier: GPL-2.0-or-later

# steer INTERFACE PROCESSORS [SYS]: what the interface receives is the work of these (a mask). SYS: a sysfs that shows it.
steer() {
    printf '%x\n' "$2" > "${3:-/sys}/class/net/$1/queues/rx-0/rps_cpus"
}
