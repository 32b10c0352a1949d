# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebooks and scripts of your own import: `from s80lab import Lab`. Nothing else in the package is promised to
stay as it is. May import everything but the commands.
"""

from s80lab.api.lab import Lab
from s80lab.api.runs import Runs

__all__ = ["Lab", "Runs"]
