# SPDX-License-Identifier: GPL-2.0-or-later
"""The origin in the header of a capture: JSON that states what was recorded. Captures may come from other people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn

from pydantic import Field

from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, validate

Count = Annotated[int, Field(ge=0, lt=1 << 63)]
"""A number that the database can hold."""


class Origin(Strict, strict=True, extra="ignore", allow_inf_nan=False):
    """The keys that s80lab reads, with their types. All are optional; other keys are passed over."""

    capture: str = ""
    experiment: str = ""
    mix: str = ""
    workload: str = ""
    image: str = ""
    server: str = ""
    scale: str = ""
    seed: Count = 0
    skip: Count = 0
    measure: Count = 0
    clients: Count | None = None
    think_ms: float | None = None
    versions: dict[str, str] = Field(default_factory=dict)


def read_origin(text: str, where: str) -> Mapping[str, Any]:
    """The origin as it stands in the header; an empty text has no keys.

    where: the capture, for messages. UserError if the text is not a JSON object, or if a key has another type.
    """
    try:
        content = json.loads(text or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UserError(
            f"{where}: the origin in the header of the capture is not a JSON object, so the file is damaged or another "
            "program wrote it; use another copy"
        )
    validate(content, Origin, f"{where}: origin in the header of the capture")
    return content


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
