# SPDX-License-Identifier: GPL-2.0-or-later
"""Strict reading of the TOML files in configs and workloads. Errors name the file, the key and the allowed values."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.numbers import LARGEST as MOST_BYTES
from s80lab.base.paths import short_path as short_path
from s80lab.base.renamed import rename_sentence
from s80lab.base.suggest import closest, hint, names

LARGEST = 64 << 10
"""Largest size of a configuration file in bytes; parsing a longer file can take gigabytes of memory."""
DEEPEST = 32
"""Largest number of levels of tables and lists. tomllib needs memory in proportion to the square of this number."""
MOST_DIGITS = 30
"""Largest number of digits of a size; Python refuses to convert thousands of digits."""
LONGEST_VALUE = 200
"""Number of characters of a wrong name or value that a message repeats."""
_TOO_DEEP = f"tables and lists are nested more than {DEEPEST} levels deep; use fewer levels"
# Strings and comments of TOML. Each alternative also matches an open end, so the search never starts again inside.
_TEXTS = re.compile(
    r'''"""(?:[^\\]|\\.?)*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)|"(?:[^"\\\n]|\\[^\n])*"?|'[^'\n]*'?|#[^\n]*''',
    re.DOTALL,
)
# A dotted key of more than DEEPEST parts, after each text became one letter.
_DEEP_KEY = re.compile(rf"(?:(?<![\w-])[\w-]+[ \t]*\.[ \t]*){{{DEEPEST}}}")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Strict(BaseModel):
    """A table of a configuration file. Undeclared keys, infinity and NaN are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


M = TypeVar("M", bound=Strict)


def parse_size(value: object) -> int:
    """Bytes from 131072, "131072" or "128KiB"; ValueError for anything else."""
    match = re.fullmatch(r"([0-9]+)\s*(KiB|MiB|GiB|)", str(value))
    if match is None or isinstance(value, bool):
        raise ValueError(
            f"`{shortened(str(value))}` is not a size: write a number of bytes, or a number with KiB, MiB or GiB"
        )
    if len(match[1]) > MOST_DIGITS:
        raise ValueError(f"`{shortened(match[0])}` has more than {MOST_DIGITS} digits: write a smaller number")
    return int(match[1]) * UNITS[match[2]]


def size_text(size: int) -> str:
    """A size in the largest unit that leaves a whole number, for example `512KiB`."""
    unit = next((name for name, bytes in reversed(UNITS.items()) if size and size % bytes == 0), "")
    return f"{size // UNITS[unit]}{unit}"


Size = Annotated[int, BeforeValidator(parse_size), Field(le=MOST_BYTES)]


def shortened(text: str) -> str:
    """A name or value for a message, cut after LONGEST_VALUE characters."""
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def find(kind: str, folder: Path, name: str) -> Path:
    """The file of a named machine, protocol, experiment or scale. UserError for an unknown name or a path."""
    if name not in names(folder):
        raise UserError(f"there is no {kind} `{name}` in {short_path(folder)}: {hint(name, names(folder))}")
    files = (place / f"{name}.toml" for place in paths.places(folder))
    return next(file for file in files if file.is_file())


def with_bases(kind: str, folder: Path, name: str) -> dict[Path, dict[str, Any]]:
    """The named file and all its bases (key `base`), with the content of each. The lowest base comes first."""
    path = find(kind, folder, name)
    chain = {path: read_toml(path)}
    while (base := chain[path].get("base")) is not None:
        where = f"{short_path(path)}: key `base`"
        if base not in names(folder):
            raise UserError(f"{where}: there is no {kind} `{base}` to use as base: {hint(str(base), names(folder))}")
        path = find(kind, folder, base)
        if path in chain:
            raise UserError(f"{where}: the bases form a cycle: {' -> '.join(one.stem for one in (*chain, path))}")
        chain[path] = read_toml(path)
    return dict(reversed(chain.items()))


def find_or_file(kind: str, folder: Path, name: str) -> Path:
    """The file of a named machine or protocol. A name that ends in .toml is the path of the file."""
    path = Path(name)
    if path.suffix != ".toml":
        return find(kind, folder, name)
    if not path.is_file():
        raise UserError(
            f"there is no {kind} file {name}: write the path of an existing file, or a name without .toml; "
            f"{hint(name, names(folder))}"
        )
    return path


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. UserError if the file cannot be read or is not TOML."""
    try:
        text = read_regular(path, LARGEST).decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{short_path(path)}: cannot be read ({error}); write the file in UTF-8") from None
    return parse_toml(text.replace("\r\n", "\n").replace("\r", "\n"), short_path(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Parse a TOML text. UserError if it is not TOML. where: the source of the text, for messages."""
    try:
        return _loads(text, where)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{where}: is not TOML: {error}") from None


def _loads(text: str, where: str) -> dict[str, Any]:
    """Parse a TOML text. TOMLDecodeError if it is not TOML; UserError if it is nested too deeply to be parsed."""
    if _DEEP_KEY.search(_TEXTS.sub("x", text)):
        raise UserError(f"{where}: {_TOO_DEEP}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise UserError(f"{where}: {_TOO_DEEP}") from None
    except ValueError:  # Python converts at most 4300 digits
        raise UserError(f"{where}: a number has thousands of digits; write a smaller number") from None


def load(path: Path, model: type[M], overrides: Mapping[str, object] | None = None) -> M:
    """Read a file as `model`. overrides: values by dotted keys that replace values of the file (`l2.size`: `4MiB`)."""
    return resolve(read_toml(path), model, short_path(path), overrides)


def resolve(content: dict[str, Any], model: type[M], where: str, overrides: Mapping[str, object] | None = None) -> M:
    """Validate content as `model`, with overrides.

    content: the parsed file; it is changed.
    where: the source of the content, for messages.
    overrides: values by dotted keys. A message about the value of a `Setting` names the source of the setting.
    """
    sources = {str(key): key.source for key in overrides or {} if isinstance(key, Setting)}
    for key, value in (overrides or {}).items():
        put(content, key, value, sources.get(key, where), model)
    return validate(content, model, where, sources)


def validate(content: Mapping[str, Any], model: type[M], where: str, sources: Mapping[str, str] | None = None) -> M:
    """Validate content as `model`. UserError names the source of the first wrong key, the key and the allowed values.

    where: the source of the content. sources: sources of single keys that come from somewhere else.
    """
    given = sources or {}
    _check_values(content, where, sources=given)
    try:
        made = model.model_validate(content)
    except ValidationError as failure:
        # A misspelt key is also a missing one: the unknown key is the better message.
        error = min(failure.errors(), key=lambda one: one["type"] != "extra_forbidden")
        fault = _fault(error, model)
        raise UserError(f"{_source(fault.keys, where, given)}: {fault.text}") from None
    for fault in _truth_faults(content, made):
        raise UserError(f"{_source(fault.keys, where, given)}: {fault.text}")
    return made


def _source(keys: Sequence[str], where: str, sources: Mapping[str, str]) -> str:
    """The file or option that has a wrong value. A problem of several keys may come from the file or from an option."""
    key = ".".join(keys)
    for name, source in sources.items():
        if key and f"{key}.".startswith(f"{name}."):
            return source
    several = not key or any(name.startswith(f"{key}.") for name in sources)
    return f"{where} with {', '.join(dict.fromkeys(sources.values()))}" if several and sources else where


@dataclass(frozen=True)
class Fault:
    """One problem of a file. keys: the path of its key; empty for a problem of several keys. text: a sentence without
    the name of the file."""

    keys: tuple[str, ...]
    text: str


def faults(content: Mapping[str, Any], model: type[BaseModel]) -> list[Fault]:
    """All problems of the content of a file that must be of this model. A key that is missing because it is misspelt is
    one problem."""
    try:
        _check_values(content, "file")
        return list(_truth_faults(content, model.model_validate(content)))
    except UserError as error:
        return [Fault((), str(error).removeprefix("file: "))]
    except ValidationError as failure:
        errors = failure.errors()
        unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
        kept = [error for error in errors if error["type"] != "missing" or not _is_misspelt(error["loc"], unknown)]
        # A value that may be of several types has an error for each type.
        first = {error["loc"][:-1] if error["loc"][-1:] in _TYPES else error["loc"]: error for error in reversed(kept)}
        return [_fault(error, model) for error in reversed(first.values())]


_TYPES = tuple((name,) for name in ("str", "int", "float", "bool"))


def _is_misspelt(missing: tuple[int | str, ...], unknown: Iterable[tuple[int | str, ...]]) -> bool:
    """Whether an unknown key of the same table resembles the missing key."""
    return any(loc[:-1] == missing[:-1] and closest(str(loc[-1]), [str(missing[-1])]) for loc in unknown)


def _fault(error: Mapping[str, Any], model: type[BaseModel]) -> Fault:
    """The problem that an error of pydantic reports."""
    loc = [part for part in error["loc"] if isinstance(part, str)]
    key = shortened(".".join(map(str, error["loc"])))
    if error["type"] == "extra_forbidden":
        remark = rename_sentence(key, ()) or hint(loc[-1], _fields(model, loc[:-1]))
        return Fault(tuple(loc), f"unknown key `{key}`: {remark}")
    if error["type"] == "missing":
        return Fault(tuple(loc), f"the key `{key}` is missing")
    message = wrong_value(error)
    return Fault(tuple(loc), f"key `{key}`: {message}" if key else message)


def _truth_faults(content: Mapping[str, Any], made: BaseModel) -> Iterator[Fault]:
    """Numbers that are given as true or false, which Python takes as 1 and 0."""
    given = dict(_truths(content))
    dump = made.model_dump() if given else {}
    for keys, truth in given.items():
        value: Any = dump
        try:
            for key in keys:
                value = value[key]
        except LookupError:  # a key that the model passes over
            continue
        if not isinstance(value, bool):
            names = tuple(map(str, keys))
            yield Fault(names, f"key `{'.'.join(names)}`: `{json.dumps(truth)}` is not allowed; write a number")


def _truths(content: object, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], bool]]:
    """The places of the values true and false, with these values."""
    if isinstance(content, bool):
        yield keys, content
    elif isinstance(content, Mapping):
        for key, value in content.items():
            yield from _truths(value, (*keys, key))
    elif isinstance(content, list | tuple):
        for index, value in enumerate(content):
            yield from _truths(value, (*keys, index))


def _check_values(
    content: object, where: str, keys: tuple[str, ...] = (), sources: Mapping[str, str] | None = None
) -> None:
    """UserError for tables and lists that are nested too deeply, for whole numbers of more than 64 bits, and for text
    that no file or command line can contain: NUL, and bytes that are not UTF-8."""
    at = _source(keys, where, sources or {})
    key = shortened(".".join(keys))
    if len(keys) > DEEPEST:
        raise UserError(f"{at}: {_TOO_DEEP}")
    if isinstance(content, Mapping):
        for name, value in content.items():
            _check_values(value, where, (*keys, str(name)), sources)
    elif isinstance(content, list | tuple):
        for index, value in enumerate(content):
            _check_values(value, where, (*keys, str(index)), sources)
    elif isinstance(content, str) and ("\0" in content or any("\ud800" <= one <= "\udfff" for one in content)):
        raise UserError(f"{at}: key `{key}`: the text contains NUL or a byte that is not UTF-8; remove it")
    elif isinstance(content, int) and not -(1 << 63) <= content < 1 << 63:
        raise UserError(f"{at}: key `{key}`: the number has more than 64 bits; write a number below 2^63")


# What to write instead, by the type of pydantic's error. A name in braces stands for the limit that the error names.
_REMEDIES = {
    "less_than_equal": "write a number of at most {le}",
    "less_than": "write a number below {lt}",
    "greater_than_equal": "write a number of at least {ge}",
    "greater_than": "write a number above {gt}",
    "multiple_of": "write a multiple of {multiple_of}",
    "finite_number": "write a finite number",
    "int": "write a whole number",
    "float": "write a number",
    "bool": "write true or false",
    "string": "write a text in quotes",
    "string_too_short": "write at least {min_length} characters",
    "string_too_long": "write at most {max_length} characters",
    "string_pattern_mismatch": "write a text that matches the pattern {pattern}",
    "too_short": "write at least {min_length} values",
    "too_long": "write at most {max_length} values",
    "list": "write a list in brackets, for example [1, 2]",
    "tuple": "write a list in brackets, for example [1, 2]",
    "dict": "write a table of keys",
    "model": "write a table of keys",
}


def wrong_value(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, and what to write instead. error: an error of pydantic.

    The text of pydantic is used only for errors that s80lab raised itself.
    """
    kind, value, limits = error["type"], error["input"], error.get("ctx", {})
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    text = shortened(text)
    if kind in ("value_error", "assertion_error"):
        message = str(error["msg"]).partition(", ")[2]
    elif kind == "literal_error":
        allowed = re.findall("'([^']*)'", limits["expected"])
        message = f"`{text}` is not one of its values; {hint(text, allowed)}"
    else:
        family = kind.removesuffix("_type").removesuffix("_parsing").removesuffix("_from_float")
        remedy = _REMEDIES.get(kind) or _REMEDIES.get(family) or "write another value"
        message = f"`{text}` is not allowed; {remedy.format(**limits)}"
    if isinstance(value, str) and re.search(r"[^,]+,[^,]+|[^.]\.\.[^.]", value):
        message += (
            "; a setting has one value: to compare several values, use `s80lab explore CAPTURE --vary KEY=VALUES`, or "
            "[sweep] in an experiment file"
        )
    return message


def _fields(model: type[BaseModel], loc: list[str]) -> list[str]:
    for part in loc:
        field = model.model_fields.get(part)
        if field is None:
            continue
        inner = _model_of(field.annotation)
        if inner is not None:
            model = inner
    return list(model.model_fields)


def dotted_keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    """The keys of a file of this model, in the model's order; `l2.size` for the key `size` of the table `l2`."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        inner = _model_of(field.annotation)
        found += [f"{prefix}{name}"] if inner is None else dotted_keys(inner, f"{prefix}{name}.")
    return found


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The model X of an annotation `X`, `X | None` or `dict[str, X]`."""
    if isinstance(annotation, type) and not isinstance(annotation, UnionType):
        try:
            if issubclass(annotation, BaseModel):
                return annotation
        except TypeError:
            pass
    for argument in get_args(annotation):
        inner = _model_of(argument)
        if inner is not None:
            return inner
    return None


def put(content: dict[str, Any], key: str, value: object, where: str, model: type[BaseModel]) -> None:
    """Set a dotted key. Only the tables on the way are checked here; the model checks the key itself."""
    *tables, last = key.split(".")
    for depth, name in enumerate(tables):
        inner = content.setdefault(name, {})
        if not isinstance(inner, dict):
            known = _fields(model, tables[:depth])
            remedy = f"set `{'.'.join(tables[: depth + 1])}` itself" if name in known else hint(name, known)
            raise UserError(
                f"{where}: `{shortened(name)}` in `{shortened(key)}` is a single value and not a table with keys: "
                f"{shortened(remedy)}"
            )
        content = inner
    content[last] = value


class Setting(str):
    """A dotted key of a setting, with its source for messages: an option, or a line of a trace."""

    source: str

    def __new__(cls, key: str, source: str = "") -> Setting:
        made = super().__new__(cls, key)
        made.source = source
        return made

    def removeprefix(self, prefix: str, /) -> Setting:
        """The key without a prefix, with the same source."""
        return Setting(super().removeprefix(prefix), self.source)


def parse_settings(settings: Iterable[str], option: str = "--set ", source: str = "") -> dict[str, object]:
    """Parse settings KEY=VALUE. A value that is TOML (12, true, "x") is read as TOML, any other as text. A date is text
    too: no key has a date. UserError for a malformed setting, and for two values of one key.

    Messages name the source of a setting: `source`, or by default the option with the setting.
    """
    parsed: dict[str, object] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        line, *more = setting.split("\n")
        where = source or f"{option}{shortened(line)}"
        if not equals or not key or not text or more:
            raise UserError(f"{where}: write KEY=VALUE, for example l2.size=4MiB")
        if key.count(".") >= DEEPEST:
            raise UserError(f"{where}: {_TOO_DEEP}")
        try:
            value = _loads(f"value = {text}", where)["value"]
        except tomllib.TOMLDecodeError:
            value = text
        value = text.strip() if isinstance(value, date | time) else value
        if key in parsed and (type(parsed[key]), parsed[key]) != (type(value), value):
            raise UserError(f"{where}: {shortened(key)} has another value already; omit one of the two settings")
        parsed[Setting(key, where)] = value
    return parsed
