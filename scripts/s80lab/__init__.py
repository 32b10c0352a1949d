# SPDX-License-Identifier: GPL-2.0-or-later
"""s80lab: a full-system simulator laboratory for servers on shared-memory multiprocessors.

`from s80lab import Lab` gives access to all results as data frames (docs/guides/python.md).
"""

from typing import TYPE_CHECKING, Any

from s80lab.base.version import __version__

if TYPE_CHECKING:
    from s80lab.api import Lab

__all__ = ["Lab", "__version__"]


def __getattr__(name: str) -> Any:
    # Every module of the package imports this one: what is above them all must wait until it is asked for.
    if name == "Lab":
        from s80lab.api import Lab

        return Lab
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
