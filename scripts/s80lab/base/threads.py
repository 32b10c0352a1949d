# SPDX-License-Identifier: GPL-2.0-or-later
"""Work in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def to_its_end(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As asyncio.to_thread, but an interruption waits for the work: a thread cannot be ended, and would go on to write
    into a folder that is being removed."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
