# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables that come with the laboratory are proven, here and now, and their pages are what they say."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.protocol.tables import NAMES

from s80lab.commands.pages import PROTOCOLS
from s80lab.protocol.diagram import diagram, draw, home_diagram, mark
from s80lab.protocol.docs import page
from s80lab.protocol.murphi import murphi
from s80lab.protocol.proof import Proof, ensure_proven, shipped_proofs
from s80lab.protocol.table import find_protocol, load_protocol
from s80lab.results.reference import unpacked_pack

pytestmark = pytest.mark.usefixtures("proofs")

SVG = "{http://www.w3.org/2000/svg}"


def proof_of(name: str) -> Proof:
    return ensure_proven(find_protocol(name))


def test_shipped_protocols_are_the_known_list() -> None:
    on_a_bus = ["hammer", "mesi", "mesif", "moesi", "moesi-dirty-supply", "moesi-without-e", "mosi", "msi"]
    with_home = ["chi-slc", "mesi-llc", "mesif-snoop-filter", "moesi-victim"]
    assert sorted(NAMES) == sorted(on_a_bus + with_home)
    assert [name for name in NAMES if load_protocol(find_protocol(name)).bus_suffices] == on_a_bus


@pytest.mark.parametrize(
    ("name", "inclusion"),
    [
        ("hammer", "no last-level cache"),
        ("moesi-victim", "no last-level cache"),
        ("mesi-llc", "inclusive"),
        ("mesif-snoop-filter", "non-inclusive"),
        ("chi-slc", "non-inclusive"),
    ],
)
def test_inclusion_follows_from_the_declared_states(name: str, inclusion: str) -> None:
    home = load_protocol(find_protocol(name)).home
    assert home is not None
    assert home.inclusion == inclusion


@pytest.mark.parametrize("name", NAMES)
def test_proven_and_every_cell_is_reached(name: str) -> None:
    proof = proof_of(name)
    assert (proof.protocol, proof.caches, proof.unreached) == (name, 3, [])
    assert proof.rules_fired > proof.states > 20


def test_record_of_shipped_proofs_is_current() -> None:
    assert shipped_proofs() == {name: proof_of(name).model for name in NAMES}, "run `s80lab protocol docs`"


@pytest.mark.parametrize("name", NAMES)
def test_exclusive_state_excludes_copies_elsewhere(name: str) -> None:
    protocol, proof = load_protocol(find_protocol(name)), proof_of(name)
    for one in protocol.present:
        if protocol.states[one].counts_as in ("M", "E"):
            assert not any(proof.together(one, other) for other in protocol.present)


def test_mesif_allows_one_f_copy_beside_s_copies() -> None:
    proof = proof_of("mesif")
    assert not proof.together("F", "F")
    assert proof.together("F", "S")


def test_model_is_independent_of_descriptions() -> None:
    """Descriptions and comments may change without a new proof."""
    protocol = load_protocol(find_protocol("msi"))
    assert murphi(protocol.model_copy(update={"description": "other words"}), 3) == murphi(protocol, 3)
    assert murphi(protocol, 4) != murphi(protocol, 3)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed pages and diagrams."""
    return unpacked_pack(PROTOCOLS, tmp_path_factory.mktemp("protocols") / "pages")


@pytest.mark.parametrize("name", NAMES)
def test_protocol_page_agrees_with_the_table(name: str, pages: Path) -> None:
    protocol = load_protocol(find_protocol(name))
    assert (pages / f"{name}.md").read_text() == page(protocol, proof_of(name)), "run `s80lab protocol docs`"
    assert mark(diagram(protocol)) in (pages / f"{name}.svg").read_text(), "run `s80lab protocol docs`"
    if protocol.home is not None:
        assert mark(home_diagram(protocol)) in (pages / f"{name}-home.svg").read_text(), "run `s80lab protocol docs`"


def test_protocol_pages_exist_only_for_shipped_tables(pages: Path) -> None:
    names = {f"{name}.{kind}" for name in NAMES for kind in ("md", "svg")}
    names |= {f"{name}-home.svg" for name in NAMES if load_protocol(find_protocol(name)).home is not None}
    assert {path.name for path in pages.iterdir() if path.suffix} == names


@pytest.mark.parametrize("name", NAMES)
def test_diagram_shows_all_states(name: str) -> None:
    protocol = load_protocol(find_protocol(name))
    assert _nodes(draw(diagram(protocol))) == set(protocol.states)
    if protocol.home is not None:
        assert _nodes(draw(home_diagram(protocol))) == set(protocol.home.states)


def _nodes(svg: str) -> set[str | None]:
    groups = ElementTree.fromstring(svg).iter(f"{SVG}g")
    return {node.findtext(f"{SVG}title") for node in groups if node.get("class") == "node"}


def test_diagram_marks_remote_events_and_permissions() -> None:
    graph = diagram(load_protocol(find_protocol("moesi")))
    assert '  E -> M [label=" store\\l", color="#222222"' in graph
    assert '  I -> E [label=" load, fetch / read, alone\\l"' in graph
    assert (
        '  O -> I [label=" rfo / supply\\l upgrade\\l", color="#6a4c93", fontcolor="#6a4c93", style=dashed];' in graph
    )
    assert "doublecircle" in next(line for line in graph.splitlines() if line.startswith("  M ["))
    assert "doublecircle" not in next(line for line in graph.splitlines() if line.startswith("  E ["))


def test_absent_graphviz_is_refused_with_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Exception, match="dot, which draws state diagrams, is not on PATH: install the Debian package"):
        draw(diagram(load_protocol(find_protocol("msi"))))
