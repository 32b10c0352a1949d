#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Package (Debian 12): erofs-utils 1.5-1. Also needed: liblz4-1, libselinux1, libuuid1, zlib1g.
#
# Behaviour: Linux allows names of 255 bytes (NAME_MAX), and so does the file system erofs. mkfs.erofs makes images of folders
# with names of up to 254 bytes. If one name has 255 bytes, it makes no image and says that there is no such file.
#
# Why it surprises: the message is about a file that exists, and does not name it. A tree of thousands of files fails because
# of one name.
#
# Seen: with a name of 254 bytes exit code 0; with one of 255 bytes exit code 1 and `Could not format the device : [Error 2]
# No such file or directory`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq -o APT::Sandbox::User=root download erofs-utils=1.5-1
dpkg-deb -x erofs-utils_*.deb root
mkfs=$(find root -name mkfs.erofs)
name=$(printf '%0255d' 0)
codes=()
for length in 254 255; do
    mkdir "$length"
    touch "$length/${name:0:length}"
    code=0
    "$mkfs" "$length.erofs" "$length" >"$length.log" 2>&1 || code=$?
    codes+=("$code")
done
reason=$(grep -o 'No such file or directory' 255.log || true)
echo "a name of 254 bytes: exit code ${codes[0]}; of 255 bytes: exit code ${codes[1]}${reason:+, $reason}"
[[ "${codes[*]}" == "0 1" && -n $reason ]] || { echo "the behaviour has changed: see the head of this script" >&2; exit 1; }
