# SPDX-License-Identifier: GPL-2.0-or-later
"""Table of the compared categories: how Ruby counts each one, and how the model counts it; reads Ruby's counts.

Ruby counts transitions STATE.EVENT of its cache and directory controllers. The model's names are those of
src/replay/order_count.h. docs/background/agreement.md describes the categories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from s80lab.base.errors import UserError
from s80lab.gem5.stats import NOTHING, dumps_of
from s80lab.gem5.table import STALLED, STALLED_STORES

# The model's states that are one state of Ruby's.
_MODEL = {"I": ("I",), "S": ("S",), "O": ("O", "OC"), "M": ("E", "D"), "MM": ("MM",)}
# Ruby's states in which an access finds its block: at rest, while the block's own transaction is under way, and
# just moved from the L2 to the L1.
_HIT = {"S": ("S", "SM", "ISM"), "O": ("O", "OM", "SS"), "M": ("M", "M_W"), "MM": ("MM", "MM_W")}
_FROM_L2 = {"S": ("SR",), "O": ("OR",), "M": ("MR",), "MM": ("MMR",)}
_STALLED = {*STALLED, *STALLED_STORES}
_WALKS = ("load", "walk")

Terms = tuple[str, ...]


# Events of probe filters, devices and flushes. In a state at rest a category has them, or they must be 0.
_RARE = (
    *("Invalidate", "Pf_Replacement", "DMA_READ", "DMA_WRITE", "GETF", "PUTF", "Flush_line"),
    *("Other_GETS_No_Mig", "NC_DMA_GETS"),
)
_AT_REST = ("S", "O", "M", "MM", "E", "NO", "NX")


def _follows_in_hammer(controller: str, state: str, event: str) -> bool:
    if event in _RARE:
        return state not in _AT_REST
    return controller != "L1Cache_Controller" or event not in _PROCESSOR or state in _STALLED


@dataclass(frozen=True)
class Category:
    """A quantity that both sides count. Its value is the sum of the counters `ruby` minus `ruby_less`, or `model`
    minus `model_less`."""

    name: str
    ruby: Terms
    model: Terms
    ruby_less: Terms = ()
    model_less: Terms = ()
    reaches: bool = False  # an access that reached the controllers: these categories sum to all accesses


@dataclass(frozen=True)
class Counterpart:
    """A protocol of Ruby, and how it is compared with the model's table of it.

    inclusion: the organisation of the model's L2. follows(CONTROLLER, STATE, EVENT): whether a row that no category has
    may have counts, because they follow from those of other rows, or because Ruby repeats a stalled event. Every other
    row must be 0.
    """

    ruby: str
    inclusion: str
    categories: tuple[Category, ...]
    controllers: Terms
    follows: Callable[[str, str, str], bool]

    @property
    def rows(self) -> frozenset[str]:
        """The rows that the categories use. Recorded outputs keep these rows only."""
        return frozenset(row for category in self.categories for row in category.ruby + category.ruby_less)


def _cache(states: Terms, events: Terms) -> Terms:
    return tuple(f"L1Cache_Controller.{state}.{event}" for state, event in product(states, events))


def _directory(states: Terms, events: Terms) -> Terms:
    return tuple(f"Directory_Controller.{state}.{event}" for state, event in product(states, events))


def _model(pattern: str, states: Terms, kinds: Terms = ("",)) -> Terms:
    """All names that the pattern yields for the model's states that correspond to Ruby's `states`."""
    names = (name for state in states for name in _MODEL[state])
    return tuple(pattern.format(state=name, kind=kind) for name, kind in product(names, kinds))


_ALL = ("S", "O", "M", "MM")


def _hits() -> list[Category]:
    """Accesses by the cache in which they found their block. A store hits in MM or M. A store in M is a silent E-to-M
    upgrade."""
    found = []
    for place, states in (("L1", _HIT), ("L2", _FROM_L2)):
        at = f"access.{place.lower()}."
        for word, event, kinds in (("loads", "Load", _WALKS), ("fetches", "Ifetch", ("ifetch",))):
            ruby = _cache(tuple(s for name in _ALL for s in states[name]), (event,))
            found.append(
                Category(f"{place} hits: {word}", ruby, _model(at + "{kind}.{state}", _ALL, kinds), reaches=True)
            )
        for word, state in (("stores in MM", "MM"), ("stores in M (silent E to M)", "M")):
            found.append(
                Category(
                    f"{place} hits: {word}",
                    _cache(states[state], ("Store",)),
                    _model(at + "store.{state}", (state,)),
                    reaches=True,
                )
            )
    return found


def _requests() -> list[Category]:
    found = [
        Category(
            f"misses: {word}",
            _cache(("I", "IR"), (event,)),
            _model("access.miss.{kind}.{state}", ("I",), kinds),
            reaches=True,
        )
        for word, event, kinds in (
            ("loads", "Load", _WALKS),
            ("fetches", "Ifetch", ("ifetch",)),
            ("stores", "Store", ("store",)),
        )
    ]
    for state in ("S", "O"):
        found.append(
            Category(
                f"upgrades in {state}",
                _cache((state, state + "R"), ("Store",)),
                _model("request.rfo.{state}.memory", (state,))
                + tuple(f"request.rfo.{name}.{owner}" for name in _MODEL[state] for owner in ("O", "OC")),
                reaches=True,
            )
        )
    return found


def _reads() -> list[Category]:
    supplied = [
        Category("reads: from memory, no cache has the block", _directory(("E",), ("GETS",)), ("fill.read.E",)),
        Category(
            "reads: from memory, S copies remain",
            _directory(("O",), ("GETS",)),
            ("request.read.I.memory",),
            model_less=("fill.read.E",),
        ),
        Category(
            "reads: from MM (migratory hand-over)",
            _cache(("MM",), ("Other_GETS",)),
            ("request.read.I.MM",),
        ),
    ]
    for state, others in (("M", ()), ("O", ("OM",))):
        supplied.append(
            Category(
                f"reads: from {state}",
                _cache((state, *others), ("Other_GETS",)),
                _model("request.read.I.{state}", (state,)),
            )
        )
    return [
        *supplied,
        Category("reads: from a block that is being evicted", _cache(("MI", "OI"), ("Other_GETS", "Merged_GETS")), ()),
        Category("reads: several reads answered as one", _cache(("M", "MM", "O", "OM"), ("Merged_GETS",)), ()),
    ]


def _stores() -> list[Category]:
    supplied = [
        Category(
            "stores: data from memory",
            _directory(("E", "O"), ("GETX",)),
            ("request.rfo.I.memory", "request.rfo.S.memory"),
        )
    ]
    for state, others in (("MM", ()), ("M", ()), ("O", ("OM",))):
        supplied.append(
            Category(
                f"stores: data from {state}",
                _cache((state, *others), ("Other_GETX",)),
                _model("request.rfo.I.{state}", (state,)) + _model("request.rfo.S.{state}", (state,)),
            )
        )
    return [
        *supplied,
        Category("stores: data from a block that is being evicted", _cache(("MI", "OI"), ("Other_GETX",)), ()),
        Category("stores: S copies invalidated", _cache(("S", "SM"), ("Other_GETX",)), ("remote.rfo.S",)),
    ]


def _fills() -> list[Category]:
    return [
        Category("fills: E or D (Ruby's M)", _cache(("IS",), ("Exclusive_Data",)), ("fill.read.E", "fill.read.D")),
        Category("fills: S", _cache(("IS",), ("Data", "Shared_Data")), ("fill.read.S",)),
        Category("fills: MM", _cache(("IM",), ("Data", "Exclusive_Data")), ("fill.rfo.MM",)),
    ]


def _moves() -> list[Category]:
    found = [
        Category("moves: L1 to L2", _cache(_ALL, ("L1_to_L2",)), _model("move.l1_l2.{state}", _ALL)),
        Category("moves: L2 to L1D", _cache(_ALL, ("Trigger_L2_to_L1D",)), _model("move.l2_l1d.{state}", _ALL)),
        Category("moves: L2 to L1I", _cache(_ALL, ("Trigger_L2_to_L1I",)), _model("move.l2_l1i.{state}", _ALL)),
    ]
    found += [
        Category(f"evictions: {state}", _cache((state,), ("L2_Replacement",)), _model("evict.{state}", (state,)))
        for state in _ALL
    ]
    for word, event, states in (
        ("clean owner (no data)", "Writeback_Clean", ("OC",)),
        ("dirty owner", "Writeback_Dirty", ("O",)),
        ("clean exclusive (no data)", "Writeback_Exclusive_Clean", ("E",)),
        ("dirty exclusive", "Writeback_Exclusive_Dirty", ("MM", "D")),
    ):
        evicted = tuple(f"evict.{state}" for state in states)
        found.append(Category(f"write-backs: {word}", _directory(("WB",), (event,)), evicted))
    return found


CATEGORIES: tuple[Category, ...] = (*_hits(), *_requests(), *_reads(), *_stores(), *_fills(), *_moves())

RECALLS: tuple[Category, ...] = (
    *(
        Category(
            f"recalls in {state} of the directory", _directory((state,), ("Pf_Replacement",)), (f"home.recall.{home}",)
        )
        for state, home in (("NO", "NO"), ("NX", "NX"), ("O", "O"))
    ),
    *(
        Category(
            f"recalled copies: {state}",
            _cache((state,), ("Invalidate",)),
            tuple(term for home in ("NO", "NX", "O") for term in _model(f"home.recall.{home}.{{state}}", (state,))),
        )
        for state in _ALL
    ),
)
"""What a probe filter adds. Without one, all of it is 0."""

# Events of a processor, which are hits, misses, or tried again later.
_PROCESSOR = ("Load", "Ifetch", "Store")
HAMMER = Counterpart(
    "MOESI_hammer", "exclusive", CATEGORIES, ("L1Cache_Controller", "Directory_Controller"), _follows_in_hammer
)
FILTERED_HAMMER = replace(HAMMER, categories=CATEGORIES + RECALLS)


def ruby_counts(rows: Mapping[str, int], accesses: int, where: str, side: Counterpart = HAMMER) -> dict[str, int]:
    """Ruby's counts by category.

    UserError: Ruby counted a transition that the table does not have, or the rows do not add up to the accesses that
    were replayed (a row is missing).
    """
    accounted = side.rows
    for row, count in rows.items():
        if count and row not in accounted and not side.follows(*row.split(".")):
            raise UserError(
                f"{where}: gem5 counted the transition {row}, which is in no category: add it to "
                "scripts/s80lab/gem5/agree"
            )
    counts = {category.name: _sum(category.ruby, category.ruby_less, rows) for category in side.categories}
    reached = sum(counts[category.name] for category in side.categories if category.reaches)
    if reached != accesses:
        raise UserError(
            f"{where}: the rows add up to {reached} accesses, but {accesses} were replayed, so rows are "
            "missing in gem5's output: repeat the command"
        )
    return counts


def model_counts(counts: Mapping[str, int], accesses: int, side: Counterpart = HAMMER) -> dict[str, int]:
    """The model's counts by category."""
    mine = {category.name: _sum(category.model, category.model_less, counts) for category in side.categories}
    reached = sum(mine[category.name] for category in side.categories if category.reaches)
    if reached != accesses:
        raise UserError(
            f"the categories of {side.ruby} cover only {reached} of the {accesses} accesses that the model played: use "
            f"its table with l2.inclusion={side.inclusion}"
        )
    return mine


def _sum(plus: Terms, less: Terms, rows: Mapping[str, int]) -> int:
    return sum(rows.get(row, 0) for row in plus) - sum(rows.get(row, 0) for row in less)


# A vector over controllers has one row with a column a controller, or rows of its elements with one ::total.
_NAME = re.compile(r"\S*?((?:L0Cache|L1Cache|L2Cache|Directory)_Controller)\.(\w+)\.(\w+)(?:::(\w+))?")


def parse_transitions(
    text: str, where: str, renamed: Mapping[str, str] = NOTHING, side: Counterpart = HAMMER
) -> dict[str, int]:
    """Counts of the last dump by `CONTROLLER.STATE.EVENT`. UserError: the text is cut short or has no such counts.
    renamed: as in read_dumps."""
    *_, last = dumps_of(text.splitlines(), where, renamed)
    rows: dict[str, int] = {}
    for name, values in last.rows.items():
        match = _NAME.fullmatch(name)
        if match is None:
            continue
        controller, state, event, element = match.groups()
        if element in (None, "total"):
            rows[f"{controller}.{state}.{event}"] = int(sum(values))
    for controller in side.controllers:
        if not any(key.startswith(controller) for key in rows):
            raise UserError(
                f"{where}: the file has no transitions of {controller}, so it is not the output of a replay "
                f"through {side.ruby}: repeat the command"
            )
    return rows
