"""Runs of equal blocks: the twelve layers of a deep network become one group, "layers.0 … layers.11".

A run is a stretch of the engine's order, as every group is, so groups form no cycle. A block is one module or a few,
together with the nodes that follow: the addition of a residual, for example.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .graphs import Drawn

_FEWEST = 3                      # blocks that make a run
_SMALLEST = 20                   # nodes that make a run worth folding
_LONGEST = 12                    # children in a block, at most


class Run(NamedTuple):
    """Children of a group, in the engine's order: from `first` on, `period` of them occur `repeats` times."""

    first: int
    period: int
    repeats: int

    @property
    def end(self) -> int:
        """The place after the last child."""
        return self.first + self.period * self.repeats


class _Signed(NamedTuple):
    """What a child is: a number that equal children share, how many nodes there are, whether there is a module."""

    sign: int
    nodes: int
    module: bool


def runs_of(graph: Drawn, children: Sequence[Sequence[int]], kinds: Sequence[str]) -> list[list[Run]]:
    """The runs in each group. `children` has the children of each group in the engine's order, without leaves.

    A child is the number of a node, or -g for group g. Groups come after their parents. `kinds` has the class of each
    group.
    """
    known: dict[Any, int] = {}
    groups: list[_Signed] = [_Signed(0, 0, True)] * len(children)
    found: list[list[Run]] = [[] for _ in children]
    for number in range(len(children) - 1, -1, -1):
        inside = [groups[-child] if child < 0 else _signed(graph, child, known) for child in children[number]]
        sign = known.setdefault((kinds[number], *[one.sign for one in inside]), len(known))
        groups[number] = _Signed(sign, sum(one.nodes for one in inside), True)
        found[number] = _repetitions(inside)
    return found


def _signed(graph: Drawn, number: int, known: dict[Any, int]) -> _Signed:
    node = graph.nodes[number]
    return _Signed(known.setdefault((node.name, str(node.shapes)), len(known)), 1, False)


def _repetitions(inside: Sequence[_Signed]) -> list[Run]:
    """The runs among the children of one group, from the left; each is as long as possible, of short blocks."""
    runs: list[Run] = []
    start = 0
    while start < len(inside):
        tried = [_run(inside, start, period) for period in range(1, _LONGEST + 1)]
        best = max((run for run in tried if _worth(inside, run)), key=lambda run: (run.end, -run.period), default=None)
        runs += [best] if best else []
        start = best.end if best else start + 1
    return runs


def _run(inside: Sequence[_Signed], start: int, period: int) -> Run:
    end = start + period
    while end < len(inside) and inside[end].sign == inside[end - period].sign:
        end += 1
    return Run(start, period, (end - start) // period)


def _worth(inside: Sequence[_Signed], run: Run) -> bool:
    members = inside[run.first:run.end]
    return (run.repeats >= _FEWEST and sum(one.nodes for one in members) >= _SMALLEST
            and any(one.module for one in members))


def title(paths: Sequence[str], repeats: int) -> str:
    """The name of a run of modules, given in the engine's order: "layers.0 … layers.11", or "cell, out" of a loop."""
    distinct = list(dict.fromkeys(reversed(paths)))
    return ", ".join(distinct) if len(distinct) * repeats <= len(paths) else f"{distinct[0]} … {distinct[-1]}"
