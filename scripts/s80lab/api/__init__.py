# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python interface for notebooks and scripts: `from s80lab import Lab`.

Only this package is a stable interface. It may import every package except `commands`.
"""

from s80lab.api.lab import Lab
from s80lab.api.runs import Run, Runs
from s80lab.api.warning import MisleadingMeanWarning

__all__ = ["Lab", "MisleadingMeanWarning", "Run", "Runs"]
