# SPDX-License-Identifier: GPL-2.0-or-later
"""All declared metrics: importing a module of this package declares its metrics."""

from __future__ import annotations

import importlib
import pkgutil

from s80lab.results import metrics
from s80lab.results.metrics.registry import REGISTRY

__all__ = ["REGISTRY"]

for _module in pkgutil.iter_modules(metrics.__path__, f"{metrics.__name__}."):
    importlib.import_module(_module.name)
