# SPDX-License-Identifier: GPL-2.0-or-later
"""The home's part of a Murphi model: one record with state and value, beside the caches and memory.

The model leaves the moments of displacements, recalls and moves open, so the proof covers every size and associativity
of last-level cache and directory, and every grouping of the private caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from s80lab.protocol.laws import CURRENT, DECLARED, cell_faults
from s80lab.protocol.table import (
    GIVERS,
    Bus,
    DisplaceCell,
    EndCell,
    Giver,
    HomeRows,
    Protocol,
    ReadCell,
    RecallCell,
    RfoCell,
)

WRITES = "if written then memory := value; else memory := home.value; end;"
"""The writeback of a home's cell: of the newest data."""


def home_state(name: str) -> str:
    """The identifier of a home state in Murphi."""
    return f"home_{name}"


def requests(protocol: Protocol) -> list[tuple[str, Bus, str]]:
    """The requests of the model: name, remote row, home row. A fetch differs from a read only if it has a home row."""
    found: list[tuple[str, Bus, str]] = [
        ("read", "read", "read"),
        ("rfo", "rfo", "rfo"),
        ("upgrade", "upgrade", "upgrade"),
    ]
    if protocol.home is not None and protocol.home.fetch is not None:
        found.insert(1, ("fetch", "read", "fetch"))
    return found


def request_of(protocol: Protocol, event: str, bus: str) -> str:
    """The request that an access sends."""
    separate = protocol.home is not None and protocol.home.fetch is not None
    return "fetch" if separate and event == "fetch" and bus == "read" else bus


def coverable_at_home(home: HomeRows) -> Iterator[str]:
    """The possible cells of the home, with their branches."""
    for row, cells in home.rows():
        for name, cell in cells.items():
            if cell.possible:
                yield from (_branch(f"{row}.{name}", key) for key, _ in cell.ends())


def declarations(home: HomeRows) -> str:
    """The types and variables."""
    return f"""\
type
  HomeState: enum {{ {", ".join(map(home_state, home.states))} }};
var
  home: record state: HomeState; value: Value; end;  -- the value has a meaning in states with data only"""


def functions(protocol: Protocol, home: HomeRows) -> str:
    """Properties of home states, and the end of every event at the home."""
    supplying = [name for name, cell in home.read.items() if cell.possible and cell.supply]
    first = [name for name in supplying if home.read[name].first]
    return f"""\
function has_data(h: HomeState): boolean;
begin return {_any_of("h", [n for n, s in home.states.items() if s.data])}; end;

function dirty(h: HomeState): boolean;
begin return {_any_of("h", [n for n, s in home.states.items() if s.dirty])}; end;

function answers_reads(h: HomeState): boolean;
begin return {_any_of("h", supplying)}; end;

function answers_first(h: HomeState): boolean;
begin return {_any_of("h", first)}; end;

-- The home ends in a state. written: a private cache wrote `value` back, to the last-level cache if it then holds the
-- block, else to memory. filled: what a block that the last-level cache begins to hold is filled with.
procedure settle(goal: HomeState; written: boolean; value: Value; filled: Value);
begin
  if has_data(goal) then
    if written then home.value := value;
    elsif !has_data(home.state) then home.value := filled;
    end;
  else
    if written then memory := value; end;
    home.value := 0;
  end;
  home.state := goal;
end;""" + "".join(
        [
            _recall(protocol) if protocol.recalls else "",
            *(_put(protocol, home, giver, row) for giver in GIVERS if (row := home.put_row(giver)) is not None),
        ]
    )


def first(protocol: Protocol, home: HomeRows) -> list[str]:
    """Statements of `answers`: whether the last-level cache supplies before all private caches."""
    lines = []
    for request, _, row in requests(protocol):
        states = [n for n, cell in _row(home, row).items() if getattr(cell, "first", False)]
        if states:
            lines.append(f"  case bus_{request}:")
            lines += [f"    if {_any_of('home.state', states)} then return supplier = core; end;"]
    return ["switch request", *lines, "end;"] if lines else []


def unasked(home: HomeRows) -> str:
    """The condition under which the private caches do not see a request: the last-level cache answers a read alone."""
    conditions = [
        f"request = bus_{request} & ({_any_of('home.state', states)})"
        for request, row in (("read", home.read), ("fetch", home.fetch or {}))
        if (states := [name for name, cell in row.items() if cell.first])
    ]
    return " | ".join(conditions)


def _recall(protocol: Protocol) -> str:
    row = protocol.remote.recall
    assert row is not None
    faults = cell_faults(protocol)
    cases = []
    for name in protocol.present:
        place, cell = f"remote.recall.{name}", row[name]
        cases.append(f"        case st_{name}:")
        if not cell.possible:
            cases.append(f'          error "{place}";')
            continue
        cases.append(f'          cover "{place}" true;')
        if cell.writeback:
            cases += ["          written := true;", "          value := cache[core].value;"]
        if f"{place}.next" in faults:
            cases.append(f'          error "{place}.next";')
        cases.append(f"          cache[core].state := st_{cell.after};")
    return f"""

-- All private caches give the block up.
procedure recall(var written: boolean; var value: Value);
begin
  for core: Core do
    if cache[core].state != st_{protocol.invalid} then
      switch cache[core].state
{lines(cases)}
      end;
      cache[core].value := 0;
    end;
  end;
end;"""


def impossible(protocol: Protocol, home: HomeRows) -> list[str]:
    """Statements of `snoop` that refuse a request in a home state where it is impossible."""
    lines = []
    for request, _, row in requests(protocol):
        wrong = [
            f'    case {home_state(name)}: error "home.{row}.{name}";'
            for name, cell in _row(home, row).items()
            if not cell.possible
        ]
        lines += _switch(request, wrong)
    return _requests(lines)


def after(protocol: Protocol, home: HomeRows) -> list[str]:
    """Statements of `snoop` once the private caches have reacted: who supplies if none of them did, and the home's next
    state."""
    faults = cell_faults(protocol)
    ends, writes, grants, supplies = [], [], [], []
    for request, _, row in requests(protocol):
        ending, writing, granting, supplying = [], [], [], []
        for name, cell in _row(home, row).items():
            if not cell.possible:
                continue
            ending += _ending(f"home.{row}.{name}", name, cell, "    ")
            if getattr(cell, "writeback", False):
                writing.append(f"    case {home_state(name)}: {WRITES}")
            if isinstance(cell, ReadCell) and cell.grants:
                granting.append(f"    case {home_state(name)}: kept := true;")
            if isinstance(cell, RfoCell) and cell.supply:
                given = f" given := st_{cell.gives};" if cell.gives else ""
                fault = f"home.{row}.{name}.gives"
                error = f' error "{fault}";' if fault in faults else ""
                supplying.append(f"    case {home_state(name)}: data := home.value;{given}{error}")
        ends += _switch(request, ending)
        writes += _switch(request, writing)
        grants += _switch(request, granting)
        supplies += _switch(request, supplying)
    return [
        *_requests(ends),
        *_requests(grants),
        *_requests(writes),
        "  if written then if has_data(goal) then home.value := value; else memory := value; end; end;",
        "  if supplier = core then",
        "    data := memory;",
        *(f"  {line}" for line in _requests(supplies)),
        "  end;",
        "  settle(goal, written, value, data);",
    ]


def put(protocol: Protocol, state: str) -> list[str]:
    """Statements of an eviction from a state of which the home learns."""
    return [f"put_{protocol.giver(state)}(core, {str(protocol.own.evict[state].writeback).lower()});"]


def _put(protocol: Protocol, home: HomeRows, giver: Giver, row: Mapping[str, EndCell]) -> str:
    cases = []
    for name in home.states:
        place = f"home.put.{giver}.{name}"
        cell = row.get(name)
        if cell is None or not cell.possible:
            cases.append(f'    case {home_state(name)}: error "{place}";')
        else:
            cases += _ending(place, name, cell, "    ")
    return f"""

-- A private cache gives the block up, as {giver}.
procedure put_{giver}(core: Core; written: boolean);
var kept: boolean; goal: HomeState;
begin
  kept := exists other: Core do other != core & cache[other].state != st_{protocol.invalid} end;
  switch home.state
{lines(cases)}
  end;
  settle(goal, written, cache[core].value, cache[core].value);
end;"""


def rules(protocol: Protocol, home: HomeRows) -> Iterator[str]:
    """The rules of events that no core causes: displacement, recall, and the move of a block between private caches."""
    for row, cells in (("displace", home.displace), ("recall", home.recall)):
        for name, cell in (cells or {}).items():
            yield _loss(protocol, f"home.{row}.{name}", name, cell)
    for name in protocol.present:
        yield _move(protocol, name)


def _loss(protocol: Protocol, place: str, name: str, cell: DisplaceCell | RecallCell) -> str:
    if not cell.possible:
        return f'rule "{place}" home.state = {home_state(name)} ==> begin error "{place}"; end;'
    recalls = isinstance(cell, RecallCell) or (isinstance(cell, DisplaceCell) and cell.recall)
    body = ["written := false;", "value := 0;"]
    if recalls:
        body.append("recall(written, value);")
    if cell.writeback:
        body.append(WRITES)
    body += [
        f"kept := exists other: Core do cache[other].state != st_{protocol.invalid} end;",
        *_choice(place, cell),
        "settle(goal, written, value, memory);",
    ]
    return f"""\
rule "{place}" home.state = {home_state(name)} ==>
  var written: boolean; value: Value; kept: boolean; goal: HomeState;
  begin
{lines([f"    {line}" for line in body])}
  end;"""


def _move(protocol: Protocol, name: str) -> str:
    place = f"own.move.{name}"
    return f"""\
ruleset core: Core; receiver: Core do
  rule "{place}" cache[core].state = st_{name} & cache[receiver].state = st_{protocol.invalid} ==>
  begin
    cache[receiver].state := st_{name};
    cache[receiver].value := cache[core].value;
    cache[core].state := st_{protocol.invalid};
    cache[core].value := 0;
  end;
end;"""


def invariants(protocol: Protocol, home: HomeRows) -> str:
    """The laws of the home that concern all reachable states."""
    invalid = f"st_{protocol.invalid}"
    none = [name for name, state in home.states.items() if state.copies == "none"]
    one = [name for name, state in home.states.items() if state.copies == "one"]
    return f"""\
invariant "{DECLARED}"
  forall a: Core do
    cache[a].state != {invalid} ->
      !({_any_of("home.state", none)}) &
      ({_any_of("home.state", one)} -> forall b: Core do a != b -> cache[b].state = {invalid} end)
  end;

invariant "{CURRENT}"
  answers_reads(home.state) &
  (answers_first(home.state) | forall a: Core do !supplies(bus_read, cache[a].state) end) ->
    home.value = last_write;"""


def _ending(place: str, name: str, cell: EndCell, indent: str) -> list[str]:
    """A case of a switch over home states that sets `goal`."""
    choice = _choice(place, cell)
    return [f"{indent}case {home_state(name)}:", *(f"{indent}  {line}" for line in choice)]


def _choice(place: str, cell: EndCell) -> list[str]:
    """Sets `goal` by `kept` and `written`, and records which branch was taken."""
    take = {key: f'cover "{_branch(place, key)}" true; goal := {home_state(end)};' for key, end in cell.ends()}
    if cell.next is not None:
        return [take["next"]]
    if cell.clean is None:
        return [f"if kept then {take['shared']}", f"else {take['alone']}", "end;"]
    by_data = [f"if written then {take['dirty']}", f"else {take['clean']}", "end;"]
    if cell.alone is not None:
        return [f"if !kept then {take['alone']}", "else", *by_data, "end;"]
    if cell.shared is not None:
        return [f"if kept then {take['shared']}", "else", *by_data, "end;"]
    return by_data


def _branch(place: str, key: str) -> str:
    return place if key == "next" else f"{place}.{key}"


def _row(home: HomeRows, row: str) -> Mapping[str, EndCell]:
    return home.upgrade or {} if row == "upgrade" else home.request_row(row)


def _switch(request: str, cases: list[str]) -> list[str]:
    return [f"  case bus_{request}:", "    switch home.state", *cases, "    end;"] if cases else []


def _requests(cases: list[str]) -> list[str]:
    return ["  switch request", *cases, "  end;"] if cases else []


def _any_of(variable: str, names: list[str]) -> str:
    return " | ".join(f"{variable} = {home_state(name)}" for name in names) or "false"


def lines(statements: list[str]) -> str:
    """The statements as text, for places where an f-string cannot join them."""
    return "\n".join(statements)
