# SPDX-License-Identifier: GPL-2.0-or-later
"""The options --machine, --protocol, --server, --image and --set, which change the design of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.base.strict import parse_settings
from s80lab.experiment.plan import Options

SINGLE = ("machine", "protocol", "server", "image")


@dataclass(frozen=True)
class Changes:
    """Options that change a design. settings: pairs KEY=VALUE, of which later ones override earlier ones."""

    machine: str | None = None
    protocol: str | None = None
    server: str | None = None
    image: str | None = None
    settings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any((self.machine, self.protocol, self.server, self.image, self.settings))

    def then(self, later: Changes) -> Changes:
        """These changes followed by later ones."""
        chosen = {key: getattr(later, key) or getattr(self, key) for key in SINGLE}
        return Changes(**chosen, settings=(*self.settings, *later.settings))

    def words(self) -> list[str]:
        """As the user types them."""
        found = [word for key in SINGLE if getattr(self, key) for word in (f"--{key}", getattr(self, key))]
        return found + [word for pair in self.settings for word in ("--set", pair)]

    def options(
        self,
        scale: str | None = None,
        seeds: Sequence[int] = (),
        boots: Sequence[int] = (),
        misses: bool = False,
        profile: bool = False,
    ) -> Options:
        """The options with which an experiment makes runs of this design."""
        return Options(
            machine=self.machine,
            protocol=self.protocol,
            scale=scale,
            seeds=seeds,
            settings=parse_settings(self.settings),
            misses=misses,
            profile=profile,
            server=self.server,
            image=self.image,
            boots=boots,
        )


UNCHANGED = Changes()
