#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packages (PyPI): zstandard 0.25.0, lz4 4.4.5.
#
# Behaviour: a Zstandard or LZ4 file may consist of several frames; parallel compressors write one frame for each part of their
# input. In both Python packages the function `decompress` returns the content of the first frame and drops all others,
# without an error. The stream readers of the same packages return the content of all frames.
#
# Why it surprises: a file that a parallel compressor wrote decompresses to its first few megabytes, and nothing says that
# something is missing. Files of a single frame, as small tests have them, are right.
#
# Seen, for the frames of b"one" and b"two":
#   zstandard: decompress b"one", stream_reader b"onetwo"
#   lz4:       decompress b"one", open          b"onetwo"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check zstandard==0.25.0 lz4==4.4.5
venv/bin/python - <<'PYTHON'
import io
import sys

import lz4.frame
import zstandard

compressor = zstandard.ZstdCompressor()
zstd = compressor.compress(b"one") + compressor.compress(b"two")
lz = lz4.frame.compress(b"one") + lz4.frame.compress(b"two")
decompressor = zstandard.ZstdDecompressor()
seen = {
    "zstandard decompress": decompressor.decompress(zstd),
    "zstandard stream_reader": decompressor.stream_reader(io.BytesIO(zstd)).read(),
    "lz4 decompress": lz4.frame.decompress(lz),
    "lz4 open": lz4.frame.open(io.BytesIO(lz)).read(),
}
for name, content in seen.items():
    print(f"{name}: {content!r}")
if list(seen.values()) != [b"one", b"onetwo", b"one", b"onetwo"]:
    sys.exit("the behaviour has changed: see the head of this script")
PYTHON
