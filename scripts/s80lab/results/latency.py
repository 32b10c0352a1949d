# SPDX-License-Identifier: GPL-2.0-or-later
"""Upper bound of a server's throughput if only data movement takes time.

This is the model of the study of high-throughput servers (KFUPM, 2003). A transfer of S bytes takes

    T = n1 T(memory to cache) + n2 T(memory to memory) + n4 T(network)

with T(memory to cache) = S / (32 Bi), T(memory to memory) = 2 S / Bi, T(network) = S / Be. Bi is the bandwidth of the
memory bus, Be the bandwidth of the bus to the network adapter. The study's slides do not contain the equations of its
three applications; the counts in studies/throughput/latency.toml reproduce every number of its table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from s80lab.base import paths
from s80lab.base.strict import Strict, load

FILE = paths.STUDIES / "throughput" / "latency.toml"
BITS = 8


class Application(Strict):
    """How often an application moves each byte: from memory to cache, from memory to memory, over the network."""

    name: str
    to_cache: NonNegativeFloat = 0.0
    to_memory: NonNegativeFloat = 0.0
    network: PositiveFloat

    def microseconds(self, size: float, bi: float, be: float) -> float:
        """Time of a transfer of `size` bytes. bi, be: bandwidths in MB/s."""
        to_cache, to_memory, network = size / (32 * bi), 2 * size / bi, size / be
        return self.to_cache * to_cache + self.to_memory * to_memory + self.network * network

    def peak_mbit(self, bi: float, be: float) -> float:
        """Throughput in Mbit/s, which does not depend on the size."""
        return BITS / self.microseconds(1.0, bi, be)


class Platform(Strict):
    """A machine of the study. stated: the study's throughputs in Mbit/s, in the order of the applications."""

    name: str
    bi: PositiveFloat
    stated: list[PositiveInt] = Field(default_factory=list)


class LatencyStudy(Strict):
    """The study. be: bandwidth of the network bus in MB/s, equal for all machines."""

    be: PositiveFloat
    applications: Annotated[list[Application], Field(min_length=1)]
    platforms: Annotated[list[Platform], Field(min_length=1)]


def load_study(file: Path = FILE) -> LatencyStudy:
    return load(file, LatencyStudy)
