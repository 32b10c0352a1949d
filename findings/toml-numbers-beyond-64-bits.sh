#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Package (Debian 12): libtomlplusplus-dev 3.3.0+ds-1 (toml++). Compared with tomllib of Python 3.11 and later. Also needed: g++.
#
# Behaviour: TOML 1.0 asks for integers of 64 bits and for floats of IEEE 754 binary64. tomllib reads a larger integer as an
# integer of any size, and a larger float as infinity. toml++ refuses both. Of a time with ten decimals tomllib keeps six and
# toml++ nine, both without a message.
#
# Why it surprises: a file that a Python program has read and checked can stop the C++ program that reads it next. Both packages
# implement TOML 1.0.
#
# Seen:
#   text               tomllib               toml++
#   2 to the power 63  9223372036854775808   error
#   1e400              inf                   error
#   00:00:00.1234567899  123456 us           123456789 ns
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq -o APT::Sandbox::User=root download libtomlplusplus-dev=3.3.0+ds-1
dpkg-deb -x libtomlplusplus-dev_*.deb root
cat >read.cpp <<'PROGRAM'
#include <iostream>
#include <string>
#include <toml++/toml.h>
int main(int, char** argv) {
    try {
        const auto table = toml::parse(std::string("a = ") + argv[1]);
        std::cout << table["a"] << "\n";
    } catch (const toml::parse_error&) {
        std::cout << "error\n";
    }
}
PROGRAM
g++ -std=c++20 -Iroot/usr/include read.cpp -o read
seen=""
for text in 9223372036854775808 1e400 00:00:00.1234567899; do
    python=$(python3 -c 'import sys, tomllib; print(tomllib.loads("a = " + sys.argv[1])["a"])' "$text")
    cpp=$(./read "$text")
    echo "$text: tomllib $python, toml++ $cpp"
    seen+="$python $cpp;"
done
[[ $seen == "9223372036854775808 error;inf error;00:00:00.123456 00:00:00.123456789;" ]] ||
    { echo "the behaviour has changed: see the head of this script" >&2; exit 1; }
