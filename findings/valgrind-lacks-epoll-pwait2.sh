#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Package (Debian 12): valgrind 1:3.19.0-1, with glibc 2.36 of Debian 12. Also needed: gcc, libc6-dev.
#
# Behaviour: epoll_pwait2 waits as epoll_wait does, with a limit in nanoseconds. Under Valgrind the call fails with ENOSYS
# (function not implemented), although kernel and C library have it. Valgrind prints a warning about an unhandled system call
# and goes on.
#
# Why it surprises: the same program works without Valgrind on the same machine. An event loop that takes the failure for an
# error cannot be profiled (callgrind) or checked. Both packages are of one Debian release.
#
# Seen: without Valgrind `0` (the limit passed), under Valgrind `Function not implemented`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq -o APT::Sandbox::User=root download valgrind=1:3.19.0-1
dpkg-deb -x valgrind_*.deb root
cat >program.c <<'PROGRAM'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
int main(void) {
    struct epoll_event event;
    struct timespec limit = {0, 1000000};
    int ready = epoll_pwait2(epoll_create1(0), &event, 1, &limit, NULL);
    puts(ready < 0 ? strerror(errno) : ready == 0 ? "0" : "an event");
    return 0;
}
PROGRAM
gcc -static program.c -o program
native=$(./program)
checked=$(VALGRIND_LIB=root/usr/libexec/valgrind root/usr/bin/valgrind --tool=none --log-file=log ./program)
echo "without Valgrind: $native; under Valgrind: $checked"
[[ $native == 0 && $checked == "Function not implemented" ]] ||
    { echo "the behaviour has changed: see the head of this script" >&2; exit 1; }
