# SPDX-License-Identifier: GPL-2.0-or-later
"""Work with progress lines."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rich.console import Console

from s80lab.base.progress import Board

T = TypeVar("T")


def on_board(work: Callable[[Board], Awaitable[T]]) -> T:
    """Run the work with progress lines on stderr; return its result. Ctrl-C and SIGTERM cancel the work cleanly."""

    async def whole(board: Board) -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work(board)

    before = signal.getsignal(signal.SIGTERM)
    try:
        with Board(Console(stderr=True)) as board:
            return asyncio.run(whole(board))
    except asyncio.CancelledError:  # SIGTERM
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGTERM, before)
