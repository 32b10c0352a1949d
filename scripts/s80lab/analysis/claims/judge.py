# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares every claim of the paper with measurements and computes a verdict with its reason.

findings(groups: Sequence[Group]) -> list[Finding]
    One finding per claim, in the paper's order. groups: the groups of a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from s80lab.analysis.claims.rules import (
    Band,
    Judgement,
    Responses,
    Verdict,
    alike,
    extremes,
    higher,
    in_band,
    lowest,
    ranked,
)
from s80lab.analysis.groups import Group, varied
from s80lab.analysis.interval import Estimate
from s80lab.analysis.transactions import types
from s80lab.base.errors import UserError
from s80lab.base.strict import Strict, read_toml, short_path, validate
from s80lab.config.differences import differences, words
from s80lab.results import paper
from s80lab.results.metrics.derive import find_metric
from s80lab.results.paper import Claim

FILE = paper.PAPER / "answers.toml"

Rule = Literal["band", "higher", "alike", "extremes", "lowest", "none"]


class Needs(Strict):
    """Conditions on the runs. think_ms = "same": all compared mixes have one think time."""

    clients: int | None = None
    think_ms: float | Literal["same"] | None = None


class Answer(Strict):
    """The answer to one claim. The comment at the top of answers.toml explains each key."""

    rule: Rule
    population: str = ""
    low: float | None = None
    high: float | None = None
    elsewhere: float | None = None
    read_as: str = ""
    needs: Needs = Needs()
    shown: bool = False
    beside: Mapping[str, str] = {}
    alike: tuple[str, ...] = ()
    above: str = ""
    below: str = ""
    differs: str = ""
    because: str = ""
    tests: tuple[str, ...] = ()
    slip: str = ""


@cache
def answers() -> Mapping[str, Answer]:
    """One answer per claim, by the claim's id. Raises UserError if an answer is missing or belongs to no claim."""
    found = {
        name: validate(content, Answer, f"{short_path(FILE)}: {name}") for name, content in read_toml(FILE).items()
    }
    wanted = {claim.id for claim in paper.claims()}
    if odd := sorted(wanted ^ found.keys()):
        raise UserError(
            f"{short_path(FILE)}: {', '.join(odd)}: every claim of claims.tsv needs exactly one answer, and only these "
            "claims"
        )
    return found


MIXES = ("imapb", "imape")
MOST_VERDICTS = 3
"""Groups whose verdicts are listed one by one."""
# Keys of the manifest with equal values in groups that differ in the mix only.
_SETTING = ("scale", "protocol", "machine", "server", "engine")


@dataclass(frozen=True)
class Finding:
    """A claim and its comparison. metric: the metric that answers the claim (empty if no single metric does). numbers:
    for each group a mapping from metric to estimate. rankings: for claims that rank transaction types, each group's
    types. judgements: one per group."""

    claim: Claim
    answer: Answer
    metric: str
    labels: tuple[str, ...]
    numbers: tuple[Mapping[str, Estimate | None], ...]
    rankings: tuple[tuple[Responses, ...], ...]
    judgements: tuple[Judgement, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict over all groups: `differs` if any group differs, else `agrees` if any group agrees."""
        verdicts = {judgement.verdict for judgement in self.judgements}
        return "differs" if "differs" in verdicts else "agrees" if "agrees" in verdicts else "not comparable"

    @property
    def verdict_text(self) -> str:
        """The verdict; one per group if the groups disagree, or of many groups the number for each verdict."""
        counts = Counter(judgement.verdict for judgement in self.judgements)
        if len(counts) == 1:
            return self.verdict
        if len(self.labels) > MOST_VERDICTS:
            return ", ".join(f"{verdict} ({count} of {len(self.labels)})" for verdict, count in counts.items())
        return ", ".join(f"{label} {one.verdict}" for label, one in zip(self.labels, self.judgements, strict=True))

    @property
    def reasons(self) -> list[str]:
        """Notes of the rules (by group if they differ), followed by the explanation of each verdict that occurs."""
        notes = [judgement.note for judgement in self.judgements]
        if len(set(notes)) > 1:
            notes = [f"{label}: {note}" for label, note in zip(self.labels, notes, strict=True) if note]
        else:
            notes = [f"{note[:1].upper()}{note[1:]}" for note in notes]
        noted = [f"{note}." for note in notes if note]
        if len(self.labels) > MOST_VERDICTS and len({judgement.verdict for judgement in self.judgements}) > 1:
            noted.insert(0, " ".join(self._by_verdict()))
        whys = [_why(self.answer, judgement) for judgement in self.judgements]
        return [text for text in dict.fromkeys([*noted, *whys]) if text]

    def _by_verdict(self) -> list[str]:
        """For each verdict a sentence with its groups."""
        groups: dict[str, list[str]] = {}
        for label, judgement in zip(self.labels, self.judgements, strict=True):
            groups.setdefault(judgement.verdict, []).append(label)
        return [f"{verdict[:1].upper()}{verdict[1:]}: {', '.join(labels)}." for verdict, labels in groups.items()]

    def record(self) -> dict[str, Any]:
        """The finding as plain values for JSON. Shares are 0 to 1, times are simulated milliseconds."""
        groups = {
            label: {
                "verdict": judgement.verdict,
                "metrics": {name: None if one is None else vars(one) for name, one in numbers.items()},
                "ranking": [vars(one) for one in ranking],
            }
            for label, judgement, numbers, ranking in zip(
                self.labels, self.judgements, self.numbers, self.rankings, strict=True
            )
        }
        return {
            "id": self.claim.id,
            "quantity": self.claim.quantity,
            "section": self.claim.section,
            "paper": said_by_paper(self.claim),
            "metric": self.metric,
            "verdict": self.verdict,
            "groups": groups,
            "reasons": self.reasons,
            "tests": list(self.answer.tests),
            "slip": self.answer.slip,
        }


def findings(groups: Sequence[Group]) -> list[Finding]:
    """See the module's docstring."""
    return [_finding(claim, answers()[claim.id], groups) for claim in paper.claims()]


def said_by_paper(claim: Claim) -> str:
    """The claim's number, or a short form of the order that it states."""
    return claim.stated or claim.words


def _finding(claim: Claim, answer: Answer, groups: Sequence[Group]) -> Finding:
    metric = _metric(claim, answer, groups)
    names = (metric, claim.metric, *answer.alike, *answer.beside.values())
    metrics = dict.fromkeys(name for name in names if name)
    ranking = answer.rule == "extremes"
    return Finding(
        claim=claim,
        answer=answer,
        metric=metric,
        labels=tuple(group.label for group in groups),
        numbers=tuple(
            {name: group.estimate(name) if _concerns(claim, answer, group) else None for name in metrics}
            for group in groups
        ),
        rankings=tuple(tuple(ranked(_responses(group))) if ranking else () for group in groups),
        judgements=tuple(_judge(claim, answer, metric, group, groups) for group in groups),
    )


def _metric(claim: Claim, answer: Answer, groups: Sequence[Group]) -> str:
    """The metric of the paper's population if all runs have it, else the metric of the whole machine."""
    known = answer.population and all(group.estimate(answer.population) is not None for group in groups)
    return answer.population if known else claim.metric


def _concerns(claim: Claim, answer: Answer, group: Group) -> bool:
    """Whether the claim, or its implication for other workloads, is about the group's workload."""
    return claim.about(group.workload) or answer.elsewhere is not None


def _judge(claim: Claim, answer: Answer, metric: str, group: Group, groups: Sequence[Group]) -> Judgement:
    if answer.rule == "none" or not (_concerns(claim, answer, group) or group.workload in paper.STAND_INS):
        return Judgement("not comparable")
    pair = _pair(group, groups) if answer.rule in ("higher", "alike") else (group,)
    refusal = _refusal(claim, answer, metric, pair)
    if refusal:
        return Judgement("not comparable", note=refusal)
    if answer.rule == "extremes":
        slowest, fastest = claim.words.split(", ")
        return extremes(_responses(group), slowest, fastest)
    if answer.rule == "alike":
        return alike({name: (_known(pair[0], name), _known(pair[1], name)) for name in answer.alike})
    if answer.rule == "lowest":
        others = _stand_ins(groups, metric)
        if len(others) < len(paper.STAND_INS):
            return Judgement("not comparable", note="needs runs of the other workloads: `s80lab reproduce workloads`")
        return lowest(_known(group, metric), others)
    if answer.rule == "higher":
        return higher(_known(pair[0], metric), _known(pair[1], metric))
    return in_band(_known(group, metric), _band(claim, answer, group))


def _pair(group: Group, groups: Sequence[Group]) -> tuple[Group, ...]:
    """The first group of each mix with this group's setting, in the order of MIXES."""
    alike_but_workload = [other for other in groups if _setting(other) == _setting(group)]
    found = (next((other for other in alike_but_workload if other.workload == mix), None) for mix in MIXES)
    return tuple(other for other in found if other is not None)


def _stand_ins(groups: Sequence[Group], metric: str) -> Mapping[str, Estimate]:
    """The metric of each stand-in for a workload of the paper, if its runs are valid."""
    results = [group for group in groups if not group.reasons]
    return {
        group.workload: value
        for group in results
        if group.workload in paper.STAND_INS and (value := group.estimate(metric)) is not None
    }


def _setting(group: Group) -> tuple[str, ...]:
    manifest = group.runs[0].manifest
    others = {key: value for key, value in differences(manifest).items() if key != "workload"}
    return (*(str(manifest[key]) for key in _SETTING), varied(manifest), *words(others))


def _refusal(claim: Claim, answer: Answer, metric: str, pair: Sequence[Group]) -> str:
    """Why these groups cannot be compared with the claim; empty if they can."""
    if not all(_concerns(claim, answer, group) for group in pair):
        return (
            "the claim is about neither this workload nor the licensed workload for which this workload is a stand-in"
        )
    if answer.rule in ("higher", "alike") and len(pair) < len(MIXES):
        return "needs runs of both mixes, imapb and imape"
    metrics = [name for name in (metric, *answer.alike) if name]
    lacking = [name for name in metrics if any(group.estimate(name) is None for group in pair)]
    if lacking or (answer.rule == "extremes" and any(group.replayed for group in pair)):
        return f"these runs do not measure {', '.join(f'`{name}`' for name in lacking) or 'response times'}"
    needs = answer.needs
    if (needs.clients or needs.think_ms is not None) and any(group.replayed for group in pair):
        return "the claim is about clients, but these runs are replays, which have no clients"
    clients = {int(group.runs[0].load["clients"]) for group in pair} if needs.clients else set()
    thinks = [float(group.runs[0].load["think_ms"]) for group in pair] if needs.think_ms is not None else []
    if needs.clients and clients != {needs.clients}:
        return f"the claim is about {needs.clients} clients, but these runs have {clients.pop()}"
    if needs.think_ms == "same" and len(set(thinks)) > 1:
        of_mixes = " and ".join(f"{group.workload} {think:g} ms" for group, think in zip(pair, thinks, strict=True))
        return f"the mixes have different think times: {of_mixes}"
    if isinstance(needs.think_ms, float) and thinks != [needs.think_ms]:
        return f"the claim is about a think time of {needs.think_ms:g} ms, but these runs have {thinks[0]:g} ms"
    judged = [name for name in (claim.metric, *answer.alike) if name] or ["response_ms"]
    if any(find_metric(name).of_caches for name in judged):
        return next((f"invalid run: {reason}" for group in pair for reason in group.reasons), "")
    return ""


def _band(claim: Claim, answer: Answer, group: Group) -> Band:
    """The range that agrees, in the metric's unit."""
    scale = 0.01 if claim.unit == "percent" else 1.0
    read = answer.low is not None or answer.high is not None
    low, high = (answer.low, answer.high) if read else (claim.low, claim.high)
    if not claim.about(group.workload):
        low, high = None, answer.elsewhere
    return Band.around(*(None if bound is None else bound * scale for bound in (low, high)))


def _known(group: Group, metric: str) -> Estimate:
    value = group.estimate(metric)
    assert value is not None  # _refusal has looked
    return value


def _responses(group: Group) -> list[Responses]:
    return [] if group.replayed else [Responses(one.name, one.count, one.mean_ms, one.error_ms) for one in types(group)]


def _why(answer: Answer, judgement: Judgement) -> str:
    if judgement.verdict == "agrees":
        return ""
    if judgement.verdict == "differs":
        return answer.differs or (answer.above if judgement.side == "above" else answer.below)
    return answer.because
