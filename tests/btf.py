# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of the kernel's kind (BTF), compiled from C."""

from __future__ import annotations

import subprocess
from pathlib import Path

from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.types import Types


def compiled_types(source: str, folder: Path) -> Types:
    """The types of a C source, which is compiled in the folder."""
    (folder / "types.c").write_text(source)
    subprocess.run(["gcc", "-gbtf", "-c", "types.c"], cwd=folder, check=True)
    return Types(Elf(folder / "types.o").section(".BTF"))
