# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the plugin's files of requests: a magic number, records, a JSON text, and the length of the text.

The formats: docs/reference/interfaces/miss-log.md and miss-sums.md.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from s80lab.base.errors import UserError
from s80lab.base.files import open_regular
from s80lab.base.strict import Strict
from s80lab.base.terminal import counted
from s80lab.base.vocabulary import LABELS
from s80lab.config.machine import GUEST_PROCESSORS, limits

LARGEST_PID = (1 << 31) - 1
_LENGTH = struct.Struct("<Q")
_LARGEST_FILE, _LARGEST_DESCRIPTION = 1 << 42, 64 << 20
_NO_CORE = 255
# The labels that the analysis uses; src/plugin/record_file.cpp writes all of them.
_LABELS = {
    "kind": LABELS["kind"],
    "request": ("miss", "upgrade"),
    "source": ("memory", *LABELS["state"]),
    "reason": ("cold", "capacity", "conflict", "coherence", "none"),
    "sharing": ("none", "true", "false"),
    "class": ("session",),
    "entry": ("user", "system_call"),
}


class Description(Strict):
    """The JSON text at the end of a file."""

    line_bytes: int = Field(ge=limits("line_bytes")[0], le=limits("line_bytes")[1])
    cores: int = Field(ge=1, le=GUEST_PROCESSORS)
    labels: dict[str, list[str]]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.line_bytes & (self.line_bytes - 1):
            raise ValueError(f"line_bytes = {self.line_bytes} must be a power of two")
        for column, needed in _LABELS.items():
            if not set(needed) <= set(self.labels.get(column, [])):
                raise ValueError(f"labels.{column} must contain {', '.join(needed)}")
        return self


D = TypeVar("D", bound=Description)


@dataclass(frozen=True)
class RecordFile(Generic[D]):
    """One format. what: names the file in messages. again: what to do about a damaged file."""

    magic: bytes
    record: np.dtype[np.void]
    description: type[D]
    what: str
    again: str

    def read(self, path: Path, records: int | None = None) -> tuple[NDArray[np.void], D]:
        """The records and their description. UserError: the file is incomplete, or the description is damaged.

        records: the number of records that the file must have, which is checked before the records are read; None if
        it is not known.
        """
        with open_regular(path, _LARGEST_FILE, self.again) as file:
            size = file.seek(0, os.SEEK_END)
            length = self._length_of_description(file, size)
            end = size - _LENGTH.size - length
            count, rest = divmod(end - len(self.magic), self.record.itemsize)
            if not length or count < 0 or rest:
                raise UserError(f"{path}: is not a complete {self.what}; {self.again}")
            if records is not None and count != records:
                raise UserError(
                    f"{path}: has {counted(count, 'record')}, but the run counted {records} misses and upgrades; "
                    f"{self.again}"
                )
            file.seek(end)
            described = self._description(path, file.read(length))
            file.seek(len(self.magic))
            return np.fromfile(file, dtype=self.record, count=count), described

    def check(
        self, path: Path, records: NDArray[np.void], described: D, limits: Mapping[str, int], valid: Mapping[str, Any]
    ) -> None:
        """UserError for the first record with a value that the plugin does not write.

        limits: for columns of this format, the smallest value that is too large. valid: masks of further checks.
        """
        labels = described.labels
        limits = {
            "core": described.cores,
            "processor": GUEST_PROCESSORS,
            **{column: len(labels[column]) for column in ("kind", "request", "source", "reason", "sharing")},
            "context": len(labels["class"]) * len(labels["entry"]),
            "zero": 1,
            **limits,
        }
        wrong = {column: records[column] >= limit for column, limit in limits.items()}
        wrong["supplier"] = (records["supplier"] >= described.cores) & (records["supplier"] != _NO_CORE)
        for column, good in valid.items():
            wrong[column] = wrong.get(column, False) | ~good
        for column, bad in wrong.items():
            if bad.any():
                first = int(bad.argmax())
                raise UserError(
                    f"{path}: record {first}: the value {records[column][first]} of `{column}` is not possible; "
                    f"{self.again}"
                )

    def _length_of_description(self, file: BinaryIO, size: int) -> int:
        """Bytes of the JSON text; 0 if the file does not have this format."""
        file.seek(0)
        if size <= len(self.magic) + _LENGTH.size or file.read(len(self.magic)) != self.magic:
            return 0
        file.seek(size - _LENGTH.size)
        (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
        return int(length) if length <= min(size, _LARGEST_DESCRIPTION) else 0

    def _description(self, path: Path, text: bytes) -> D:
        try:
            return self.description.model_validate_json(text)
        except ValidationError as failure:
            error = failure.errors(include_input=False)[0]
            key = ".".join(map(str, error["loc"]))
            raise UserError(
                f"{path}: the description at the end of the file cannot be read ({f'key `{key}`: ' if key else ''}"
                f"{error['msg'].partition(':')[0]}); {self.again}"
            ) from None
