#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packages (PyPI): SCons 4.8.1 and 4.11.1. Also needed: python3-venv, gcc, libc6-dev.
#
# Behaviour: CheckLibWithHeader takes the code of the test program as its fourth argument. SCons 4.9.0 put the new argument
# extra_libs before it. A build script that gives the code by position now hands SCons a list of libraries: each character
# of the code becomes one option -l. The link fails, and the check says that the library is missing.
#
# Why it surprises: the same SConstruct finds the library with 4.8.1, and the message blames the machine. gem5 24.0 gives the
# code by position: with SCons 4.9 or later it asks for zlib, which is installed. SCons 4.8.1 builds it.
#
# Seen: 4.8.1 `True`; 4.11.1 `False`, and the link in config.log ends with `-lm -ls -lq -lr -lt -l( -l4 -l. -l0 -l) -l;`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >SConstruct <<'CONSTRUCT'
print(Configure(Environment()).CheckLibWithHeader("m", "math.h", "C", "sqrt(4.0);"))
CONSTRUCT
found() {
    python3 -m venv "$1"
    "$1/bin/pip" --quiet --disable-pip-version-check install "scons==$1"
    rm -rf .scon* config.log
    "$1/bin/scons" -Q 2>&1 | grep -x -e True -e False
}
before=$(found 4.8.1)
after=$(found 4.11.1)
link=$(grep -c -e '-lm -ls -lq -lr -lt' config.log || true)
echo "4.8.1: $before; 4.11.1: $after, links with letters as libraries: $link"
[[ $before == True && $after == False && $link -ge 1 ]] ||
    { echo "the behaviour has changed: see the head of this script" >&2; exit 1; }
