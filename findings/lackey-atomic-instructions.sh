#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Package (Debian 12): valgrind 1:3.19.0-1. Also needed: gcc, binutils.
#
# Behaviour: the memory trace of Valgrind's tool lackey (--trace-mem=yes) has lines of the kinds L (load), S (store) and M
# (modify: one instruction loads and stores). A compare-and-swap that fails is an M, although the value in memory stays as it
# is. An atomic addition (`lock add`) is two lines, an L and an M, although it is one instruction with one load and one store.
#
# Why it surprises: lackey's traces are read by cache simulators, in which M stands for one load and one store. A simulation of
# locks then counts one load too many for each atomic addition. Valgrind executes `lock add` as a load and a compare-and-swap,
# which explains the two lines.
#
# Seen, lines of the variable's address: M (a compare-and-swap that fails), L and M (an atomic addition).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq -o APT::Sandbox::User=root download valgrind=1:3.19.0-1
dpkg-deb -x valgrind_*.deb root
cat >program.c <<'PROGRAM'
static volatile long word = 5;
int main(void) {
    long expected = 1;
    __asm__ volatile("lock cmpxchg %2, %0" : "+m"(word), "+a"(expected) : "r"(7L) : "memory", "cc");
    __asm__ volatile("lock addq $1, %0" : "+m"(word) : : "memory", "cc");
    return 0;
}
PROGRAM
gcc -O1 -no-pie -static program.c -o program
address=$(nm program | awk '$3 == "word" { print substr($1, 9) }')
seen=$(VALGRIND_LIB=root/usr/libexec/valgrind root/usr/bin/valgrind --tool=lackey --trace-mem=yes --log-file=/dev/stdout \
    ./program | awk -v address="$address" 'index($2, address) { printf "%s%s", gap, $1; gap = " " }')
echo "lines of the variable: $seen"
[[ $seen == "M L M" ]] || { echo "the behaviour has changed: see the head of this script" >&2; exit 1; }
