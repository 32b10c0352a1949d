# SPDX-License-Identifier: GPL-2.0-or-later
"""Translates a protocol's table into a Murphi model: one block, a few caches, memory and an atomic bus.

The bus behaves as in src/memory/hierarchy.cpp. One cache represents all caches of a core, and requests are atomic. The
Murphi model leaves three choices open, so the proof covers all of them: the supplier among equals, the time of an
eviction, and the value stored. A protocol never inspects data, and each store changes the value. Three values therefore
suffice: in some sequence of events, a stale copy stays different from the last write.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from s80lab.protocol import murphi_home
from s80lab.protocol.laws import LAST_WRITE, NOT_LOST, ONE_OWNER, ONE_WRITER, cell_faults
from s80lab.protocol.table import ACCESSES, BUS, Access, AccessCell, EvictCell, Protocol, RemoteCell

# What a store can put into the block.
VALUES = 3

SNOOP = "core: Core; supplier: Core; request: Request; var data: Value; var kept: boolean; var given: State"
"""The parameters of the procedure."""

HEADER = """\
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Protocol {name}. s80lab generated this file from the protocol's table: change the table, not this file. Check this
-- file with rumur. A rule is a cell of [own.EVENT]; `snoop` has the cells of [remote.BUS]. A `cover` records that a
-- cell was reached. An `error` names the faulty cell."""


def murphi(protocol: Protocol, caches: int) -> str:
    """The text of the Murphi model. Its hash identifies table and generator among the stored proofs."""
    return (
        "\n\n".join(
            [
                HEADER.format(name=protocol.name),
                _declarations(protocol, caches),
                _functions(protocol),
                *([murphi_home.functions(protocol, protocol.home)] if protocol.home else []),
                _snoop(protocol),
                _start(protocol),
                *_access_rules(protocol),
                *_evict_rules(protocol),
                *(murphi_home.rules(protocol, protocol.home) if protocol.home else []),
                _invariants(protocol),
                *([murphi_home.invariants(protocol, protocol.home)] if protocol.home else []),
                _coexistence(protocol),
            ]
        )
        + "\n"
    )


def state(name: str) -> str:
    """The identifier of a state in Murphi, as in the traces of rumur."""
    return f"st_{name}"


def together(first: str, second: str) -> str:
    """The name of the cover for two caches that hold the block in these states."""
    return f"together {first} {second}"


def coexistence_pairs(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """All unordered pairs of the states of a present block, in the order of the table."""
    return combinations_with_replacement(protocol.present, 2)


def coverable(protocol: Protocol) -> list[str]:
    """The places that some sequence of events should reach: all possible cells, with both branches of split cells."""
    places = []
    for event in ACCESSES:
        for name, access in protocol.access_row(event).items():
            branches = [""] if access.next else [".alone", ".shared"]
            places += [f"own.{event}.{name}{branch}" for branch in branches if access.possible]
    places += [f"own.evict.{name}" for name, evict in protocol.own.evict.items() if evict.possible]
    for bus in BUS:
        row = protocol.remote_row(bus)
        places += [f"remote.{bus}.{name}" for name in protocol.present if row[name].possible]
    if protocol.remote.recall is not None:
        places += [f"remote.recall.{name}" for name in protocol.present if protocol.remote.recall[name].possible]
    if protocol.home is not None:
        places += murphi_home.coverable_at_home(protocol.home)
    return places


def _declarations(protocol: Protocol, caches: int) -> str:
    home = f"\n{murphi_home.declarations(protocol.home)}" if protocol.home else ""
    return f"""\
const
  CORES: {caches};
  VALUES: {VALUES};
type
  Core: 0 .. CORES - 1;
  Value: 0 .. VALUES - 1;
  Change: 1 .. VALUES - 1;
  Request: enum {{ {", ".join(f"bus_{name}" for name, _, _ in murphi_home.requests(protocol))} }};
  State: enum {{ {", ".join(state(name) for name in protocol.states)} }};
var
  cache: array [Core] of record state: State; value: Value; end;
  memory: Value;
  last_write: Value;  -- what a read must return{home}"""


def _functions(protocol: Protocol) -> str:
    order = "\n".join(f"    case {state(name)}: return {place};" for place, name in enumerate(protocol.states))
    suppliers = []
    for request, bus, _ in murphi_home.requests(protocol):
        names = [name for name in protocol.present if protocol.remote_row(bus)[name].supply]
        suppliers.append(f"    case bus_{request}: return {_any_of('s', names)};")
    first = "".join(f"\n  {line}" for line in murphi_home.first(protocol, protocol.home)) if protocol.home else ""
    return f"""\
-- Priority of a state as supplier: the first state of the table supplies.
function order(s: State): 0 .. {len(protocol.states)};
begin
  switch s
{order}
  end;
end;

function supplies(request: Request; s: State): boolean;
begin
  switch request
{murphi_home.lines(suppliers)}
  end;
end;

-- Whether `supplier` may supply the block to `core`. supplier = core: memory supplies, because no cache does.
function answers(core: Core; supplier: Core; request: Request): boolean;
begin{first}
  if supplier != core & !supplies(request, cache[supplier].state) then return false; end;
  for other: Core do
    if other != core & supplies(request, cache[other].state) then
      if supplier = core | order(cache[other].state) < order(cache[supplier].state) then return false; end;
    end;
  end;
  return true;
end;

-- Whether a core stores in this state without a bus request.
function writer(s: State): boolean;
begin return {_any_of("s", protocol.writers)}; end;

function readable(s: State): boolean;
begin return {_any_of("s", protocol.present)}; end;

-- Whether this is the state of an owner.
function owner(s: State): boolean;
begin return {_any_of("s", protocol.owners)}; end;"""


def _snoop(protocol: Protocol) -> str:
    faults = cell_faults(protocol)
    requests, homed = murphi_home.requests(protocol), protocol.home is not None
    impossible, cells, gives = [], [], []
    for bus in BUS:
        row = protocol.remote_row(bus)
        places = {name: f"remote.{bus}.{name}" for name in protocol.present}
        case = f"      case {', '.join(f'bus_{name}' for name, row, _ in requests if row == bus)}:"
        wrong = [f'        case {state(n)}: error "{p}";' for n, p in places.items() if not row[n].possible]
        impossible += _switch(case, "cache[other].state", wrong, "        ")
        right = [line for n, p in places.items() if row[n].possible for line in _remote_cell(p, n, row[n], homed)]
        cells += _switch(case, "cache[other].state", right, "        ")
        given = [
            f"        case {state(n)}: given := {state(row[n].gives or '')};"
            + (f' error "{p}.gives";' if f"{p}.gives" in faults else "")
            for n, p in places.items()
            if row[n].gives
        ]
        gives += _switch(case, "cache[supplier].state", given, "        ")
    checks = start = end = locals_ = ""
    asked = ("", "")
    memory = "\n  if supplier = core then data := memory; end;"
    if protocol.home:
        locals_ = "\nvar written: boolean; value: Value; goal: HomeState;"
        checks = "".join(f"\n{line}" for line in murphi_home.impossible(protocol, protocol.home))
        start = "\n  written := false;\n  value := 0;"
        end = "".join(f"\n{line}" for line in murphi_home.after(protocol, protocol.home))
        memory = ""
        if unasked := murphi_home.unasked(protocol.home):
            asked = (f"if !({unasked}) then ", " end;")
    invalid = state(protocol.invalid)
    return f"""\
-- All other caches with the block snoop the request. data: the data that the requester receives; kept: another cache
-- keeps a copy; given: the state that the supplier hands over, else the invalid state.
procedure snoop({SNOOP});{locals_}
begin
  for other: Core do
    if other != core then
      {asked[0]}switch request
{murphi_home.lines(impossible)}
      end;{asked[1]}
    end;
  end;{checks}
  kept := false;
  given := {invalid};{start}
  if supplier != core then
    data := cache[supplier].value;
    switch request
{murphi_home.lines(gives)}
    end;
  end;
  for other: Core do
    if other != core & cache[other].state != {invalid} then
      {asked[0]}switch request
{murphi_home.lines(cells)}
      end;{asked[1]}
      if cache[other].state = {invalid} then cache[other].value := 0; else kept := true; end;
    end;
  end;{memory}{end}
end;"""


def _remote_cell(place: str, name: str, cell: RemoteCell, homed: bool) -> list[str]:
    lines = [f"        case {state(name)}:", f'          cover "{place}" true;']
    if cell.writeback and homed:
        lines += ["          written := true;", "          value := cache[other].value;"]
    elif cell.writeback:
        lines.append("          memory := cache[other].value;")
    if cell.after != name:
        lines.append(f"          cache[other].state := {state(cell.after)};")
    return lines


def _start(protocol: Protocol) -> str:
    home = ""
    if protocol.home:
        home = f"\n  home.state := {murphi_home.home_state(protocol.home.absent)};\n  home.value := 0;"
    return f"""\
startstate "no cache holds the block" begin
  for core: Core do
    cache[core].state := {state(protocol.invalid)};
    cache[core].value := 0;
  end;
  memory := 0;
  last_write := 0;{home}
end;"""


def _access_rules(protocol: Protocol) -> Iterator[str]:
    faults = cell_faults(protocol)
    for event in ACCESSES:
        for name, cell in protocol.access_row(event).items():
            place = f"own.{event}.{name}"
            if place in faults:
                yield _error_rule(place, name)
            else:
                yield _access_rule(protocol, event, name, cell)


def _access_rule(protocol: Protocol, event: Access, name: str, cell: AccessCell) -> str:
    place = f"own.{event}.{name}"
    parameters, guard = ["core: Core"], f"cache[core].state = {state(name)}"
    body = [f'cover "{place}" true;'] if cell.next else []
    if cell.bus:
        request = murphi_home.request_of(protocol, event, cell.bus)
        parameters.append("supplier: Core")
        guard += f" & answers(core, supplier, bus_{request})"
        body.append(f"snoop(core, supplier, bus_{request}, data, kept, given);")
        if name == protocol.invalid:
            body.append("cache[core].value := data;")
        elif cell.bus != "upgrade":  # a holder keeps its own data unless another cache sends newer ones
            body.append("if supplier != core then cache[core].value := data; end;")
    if event == "store":
        parameters.append("change: Change")
        if cell.bus:  # a store changes a part of the block: the rest must be the last write
            body.append("stale := cache[core].value != last_write;")
        body += ["last_write := (last_write + change) % VALUES;", "cache[core].value := last_write;"]
    body += _end(protocol, place, cell)
    if event == "store" and cell.bus:
        body.append(f'if stale then error "{place}.filled"; end;')
    locals_ = "var data: Value; kept: boolean; given: State; stale: boolean;\n  " if cell.bus else ""
    return f"""\
ruleset {"; ".join(parameters)} do
  rule "{place}" {guard} ==>
  {locals_}begin
{murphi_home.lines([f"    {line}" for line in body])}
  end;
end;"""


def _end(protocol: Protocol, place: str, cell: AccessCell) -> list[str]:
    """The requester's next state: handed over by the supplier, else from its cell and the copies that remain."""
    given = cell.bus is not None and any(remote.gives for remote in protocol.remote_row(cell.bus).values())
    if protocol.home and cell.bus and cell.bus != "upgrade":
        rows = [protocol.home.request_row(name) for name in ("read", "fetch", "rfo")]
        given = given or any(getattr(home, "gives", None) for row in rows for home in row.values())
    start = "if given != {0} then cache[core].state := given;" if given else ""
    lines = [start.format(state(protocol.invalid))] if given else []
    if cell.next:
        end = _become(protocol, place + ".next", cell.next)
        return [*lines, f"else {end}", "end;"] if given else [end]
    return [
        *lines,
        ("elsif" if given else "if")
        + f' kept then cover "{place}.shared" true; '
        + _become(protocol, place + ".shared", cell.when_shared),
        f'else cover "{place}.alone" true; ' + _become(protocol, place + ".alone", cell.when_alone),
        "end;",
    ]


def _become(protocol: Protocol, branch: str, end: str) -> str:
    fault = f' error "{branch}";' if branch in cell_faults(protocol) else ""
    return f"cache[core].state := {state(end)};{fault}"


def _evict_rules(protocol: Protocol) -> Iterator[str]:
    for name in protocol.present:
        place = f"own.evict.{name}"
        cell = protocol.own.evict[name]
        yield _evict_rule(protocol, name, cell) if cell.possible else _error_rule(place, name)


def _evict_rule(protocol: Protocol, name: str, cell: EvictCell) -> str:
    writeback = "\n    memory := cache[core].value;" if cell.writeback else ""
    if protocol.home and protocol.puts(name):
        writeback = "".join(f"\n    {line}" for line in murphi_home.put(protocol, name))
    return f"""\
ruleset core: Core do
  rule "own.evict.{name}" cache[core].state = {state(name)} ==>
  begin
    cover "own.evict.{name}" true;{writeback}
    cache[core].state := {state(protocol.invalid)};
    cache[core].value := 0;
  end;
end;"""


def _error_rule(place: str, name: str) -> str:
    return f"""\
ruleset core: Core do
  rule "{place}" cache[core].state = {state(name)} ==> begin error "{place}"; end;
end;"""


def _invariants(protocol: Protocol) -> str:
    invalid = state(protocol.invalid)
    home = " |\n  dirty(home.state) & home.value = last_write" if protocol.home else ""
    return f"""\
invariant "{ONE_WRITER}"
  forall a: Core do forall b: Core do
    a != b & writer(cache[a].state) -> cache[b].state = {invalid}
  end end;

invariant "{ONE_OWNER}"
  forall a: Core do forall b: Core do
    a != b & owner(cache[a].state) -> !owner(cache[b].state)
  end end;

invariant "{LAST_WRITE}"
  forall a: Core do readable(cache[a].state) -> cache[a].value = last_write end;

invariant "{NOT_LOST}"
  memory = last_write | exists a: Core do owner(cache[a].state) & cache[a].value = last_write end{home};"""


def _coexistence(protocol: Protocol) -> str:
    covers = [
        f'cover "{together(a, b)}" exists a: Core do exists b: Core do '
        f"a != b & cache[a].state = {state(a)} & cache[b].state = {state(b)} end end;"
        for a, b in coexistence_pairs(protocol)
    ]
    return murphi_home.lines(
        ["-- Coexisting states: the states in which two caches hold the block at the same time.", *covers]
    )


def _any_of(variable: str, names: list[str]) -> str:
    return " | ".join(f"{variable} = {state(name)}" for name in names) or "false"


def _switch(head: str, subject: str, cases: list[str], indent: str) -> list[str]:
    """A case with a nested switch, or no lines if there are no nested cases."""
    return [head, f"{indent}switch {subject}", *cases, f"{indent}end;"] if cases else []
