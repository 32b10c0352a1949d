# SPDX-License-Identifier: GPL-2.0-or-later
"""The categories of gem5's MESI_Three_Level, as in categories.py. The model's side is the table `mesi-llc`.

gem5 counts levels from 0: its L0s are the model's L1s, its private L1 is the model's L2, and its shared L2 is the
model's last-level cache (LLC). The names of the categories are the model's.

Ruby's states of the private L1 do not name dirty blocks: a block that an L0 gave back is in MM, changed or not. The
states of the LLC do not either; their events do (L2_Replacement of a dirty block, L2_Replacement_clean).
"""

from __future__ import annotations

from itertools import product

from s80lab.gem5.agree.categories import Category, Counterpart, Terms

_READS = ("load", "walk", "ifetch")
_KINDS = {"loads": ("Load", ("load", "walk")), "fetches": ("Ifetch", ("ifetch",)), "stores": ("Store", ("store",))}
# The model's states of the LLC, by Ruby's.
_HOME = {"NP": ("NP",), "M": ("P", "PD"), "SS": ("SS", "SSD"), "MT": ("MT", "MTD")}


def _names(*parts: str | Terms) -> Terms:
    """All names of one word of each part, joined with dots."""
    return tuple(".".join(words) for words in product(*((part,) if isinstance(part, str) else part for part in parts)))


def _l1(states: Terms, events: str | Terms) -> Terms:
    return _names("L0Cache_Controller", states, events)


def _l2(states: Terms, events: str | Terms) -> Terms:
    return _names("L1Cache_Controller", states, events)


def _llc(states: Terms, events: str | Terms) -> Terms:
    return _names("L2Cache_Controller", states, events)


_ALL, _OWN = ("S", "E", "M"), ("E", "M")


def _accesses() -> list[Category]:
    found = []
    for word, (event, kinds) in _KINDS.items():
        states = _OWN if event == "Store" else _ALL
        found += [
            Category(f"L1 hits: {word}", _l1(states, event), _names("access.l1", kinds, states), reaches=True),
            Category(
                f"L1 misses: {word}",
                _l1(("I",), event),
                _names("access.l2", kinds, _ALL) + _names("access.miss", kinds, "I"),
                reaches=True,
            ),
        ]
    return [
        *found,
        Category("L1 stores in S", _l1(("S",), "Store"), ("access.l1.store.S",), reaches=True),
        Category("L2 hits: reads in S", _l2(("S", "SS"), "Load"), _names("access.l2", _READS, "S")),
        Category("L2 hits: reads in E or M", _l2(("EE", "MM"), "Load"), _names("access.l2", _READS, _OWN)),
        Category("L2 hits: stores in E or M", _l2(("EE", "MM"), "Store"), _names("access.l2.store", _OWN)),
        Category("upgrades in S", _l2(("S", "SS"), "Store"), _names("request.upgrade.S", ("memory", "llc"))),
        Category("misses: reads", _l2(("I",), "Load"), _names("access.miss", _READS, "I")),
        Category("misses: stores", _l2(("I",), "Store"), ("access.miss.store.I",)),
    ]


def _requests() -> list[Category]:
    found = []
    for word, event, rows in (("reads", "L1_GETS", ("read", "fetch")), ("stores", "L1_GETX", ("rfo",))):
        found += [
            Category(f"{word}: LLC in {state}", _llc((state,), event), _names("home", rows, homes))
            for state, homes in _HOME.items()
        ]
        request = f"request.{rows[0] if event == 'L1_GETS' else 'rfo'}.I"
        found += [
            Category(f"{word}: data from memory", _llc(("NP",), event), (f"{request}.memory",)),
            Category(f"{word}: data from the LLC", _llc(("M", "SS"), event), (f"{request}.llc",)),
        ]
    back = ("MT_IIB", "MT_IB")
    return [
        *found,
        Category("reads: data from M", _llc(back, "WB_Data"), ("request.read.I.M",)),
        Category("reads: data from E", _llc(back, "WB_Data_clean"), ("request.read.I.E",)),
        Category("reads: a cache supplies", _l2(("EE", "MM"), "Fwd_GETS"), _names("request.read.I", _OWN)),
        Category("stores: a cache supplies", _l2(("EE", "MM"), "Fwd_GETX"), _names("request.rfo.I", _OWN)),
        Category("upgrades at the LLC", _llc(("SS",), "L1_UPGRADE"), _names("home.upgrade", _HOME["SS"])),
        Category(
            "S copies invalidated or recalled",
            _l2(("SS",), "Inv"),
            ("remote.rfo.S", "remote.upgrade.S", *_names("home.displace", _HOME["SS"], "S")),
        ),
        Category("fills: E", _l2(("IS",), "Data_Exclusive"), ("fill.read.E",)),
        Category("fills: S", _l2(("IS",), ("Data_all_Acks", "DataS_fromL1")), ("fill.read.S",)),
        Category(
            "fills: M, and upgrades that end",
            _l2(("IM",), "Data_all_Acks") + _l2(("SM",), "Ack_all"),
            ("fill.rfo.M", *_names("request.upgrade.S", ("memory", "llc"))),
        ),
    ]


def _evictions() -> list[Category]:
    found = [
        Category("evictions: S", _l2(("SS",), "L1_Replacement"), ("evict.S",)),
        Category("evictions: E or M", _l2(("EE", "MM"), "L1_Replacement"), _names("evict", _OWN)),
        Category(
            "evictions that the LLC learns of", _llc(("MT",), "L1_PUTX"), _names("home.put.exclusive", _HOME["MT"])
        ),
    ]
    for state in ("M", "SS", "MT"):
        for word, event, home in zip(
            ("clean", "dirty"), ("L2_Replacement_clean", "L2_Replacement"), _HOME[state], strict=True
        ):
            found.append(Category(f"LLC evictions: {state}, {word}", _llc((state,), event), (f"home.displace.{home}",)))
    clean = ("WB_Data_clean", "Ack_all")
    return [
        *found,
        Category("recalled copies: M, LLC clean", _llc(("MCT_I",), "WB_Data"), ("home.displace.MT.M",)),
        Category("recalled copies: M, LLC dirty", _llc(("MT_I",), "WB_Data"), ("home.displace.MTD.M",)),
        Category("recalled copies: E, LLC clean", _llc(("MCT_I",), clean), ("home.displace.MT.E",)),
        Category("recalled copies: E, LLC dirty", _llc(("MT_I",), clean), ("home.displace.MTD.E",)),
        Category("recalled copies: E or M", _l2(("EE", "MM"), "Inv"), _names("home.displace", _HOME["MT"], _OWN)),
        Category(
            "reads of memory",
            ("Directory_Controller.I.Fetch",),
            _names("home", ("read", "fetch", "rfo"), "NP"),
        ),
        Category(
            "write-backs of the LLC",
            ("Directory_Controller.M.Data",),
            (*_names("home.displace", ("PD", "SSD", "MTD")), "home.displace.MT.M"),
        ),
        Category(
            "LLC evictions without data",
            ("Directory_Controller.M.CleanReplacement",),
            (*_names("home.displace", ("P", "SS", "MT")),),
            model_less=("home.displace.MT.M",),
        ),
    ]


# States at rest. In all others a transaction is under way, and its events follow from its first one.
_AT_REST = {
    "L0Cache_Controller": ("I", *_ALL),
    "L1Cache_Controller": ("I", "S", "SS", "E", "EE", "M", "MM"),
    "L2Cache_Controller": tuple(_HOME),
    "Directory_Controller": ("I", "M"),
}
# Moves between a core's L0s and its L1, whose order and places later accesses show; and acknowledgements of a core
# whose copy in S has left silently.
_FOLLOW = {
    *_l1(_ALL, ("L0_Replacement", "InvOwn", "InvElse")),
    *_l1(("I",), ("InvOwn", "InvElse")),
    *_l2(_ALL, ("L0_Invalidate_Own", "L0_Invalidate_Else")),
    *_l2(_OWN, "WriteBack"),
    *_l2(("I",), "Inv"),
}


def _follows(controller: str, state: str, event: str) -> bool:
    return state not in _AT_REST.get(controller, ()) or f"{controller}.{state}.{event}" in _FOLLOW


THREE_LEVEL = Counterpart(
    "MESI_Three_Level",
    "inclusive-gem5",
    (*_accesses(), *_requests(), *_evictions()),
    tuple(_AT_REST),
    _follows,
)
