# SPDX-License-Identifier: GPL-2.0-or-later
# The probe, all of whose processes are on the first processor.

PROBE_LOG=/run/probe.log

server_start() {
    start_server "the probe" $PROBE_LOG taskset 1 s80-probe 127.0.0.1:5002
    await 10 "the probe (port 5002)" $PROBE_LOG grep -q '^port 5002$' $PROBE_LOG
}
