# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, controlled through pipes (DevTools protocol, `--remote-debugging-pipe`)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)
HEIGHT_PX = 900
TALLEST_PX = 12_000
"""Height of a screenshot; what lies below is not shown."""


class Browser:
    """A context manager that starts and ends the browser. RuntimeError if there is none, or if it rejects a command."""

    def __enter__(self) -> Self:
        program = shutil.which("chromium")
        if program is None:
            raise RuntimeError("chromium was not found; install the Debian package chromium")
        self._profile = tempfile.TemporaryDirectory()
        # Chromium reads commands from descriptor 3 and writes replies to descriptor 4.
        reads, self._commands = os.pipe()
        self._replies, writes = os.pipe()
        shell = f'exec "$0" "$@" 3<&{reads} 4>&{writes}'
        words = [program, *OPTIONS, f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(
            ["bash", "-c", shell, *words],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self._number, self._rest, self._session = 0, b"", ""
        self._seen: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        try:
            self._call("Browser.close")
        finally:
            self._process.wait()
            os.close(self._commands)
            os.close(self._replies)
            self._profile.cleanup()

    def open(self, page: Path, width: int) -> None:
        """Open a file in a window of this width, and wait until it is loaded."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT_PX, deviceScaleFactor=1, mobile=False
        )
        self._seen.clear()
        self._call("Page.navigate", url=page.resolve().as_uri())
        while "Page.loadEventFired" not in self._seen:
            self._receive()

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression, or of its promise."""
        found = self._call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"the script failed: {found['exceptionDetails']}")
        return found["result"].get("value")

    def screenshot(self, target: Path, width: int) -> None:
        """Write the page, from its top to TALLEST_PX at most, as PNG."""
        height = min(TALLEST_PX, self.evaluate("document.documentElement.scrollHeight"))
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self._call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(found["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._commands, content) :]
        while True:
            reply = self._receive()
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']['message']}")
                return dict(reply["result"])

    def _receive(self) -> dict[str, Any]:
        """The next reply or event."""
        while b"\0" not in self._rest:
            content = os.read(self._replies, 1 << 20)
            if not content:
                raise RuntimeError("chromium ended")
            self._rest += content
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._seen.append(str(message.get("method", "")))
        return message
