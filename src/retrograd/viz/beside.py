"""Two passes side by side: which of their nodes belong together, and where the gradients differ.

The passes are documents of the explorer. Of the other document, only names, shapes, links and gradients are needed.
"""

from __future__ import annotations

import base64
from cmath import isfinite
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from math import hypot, inf, sqrt
from typing import Any

import numpy as np

from .statistics import Facts, number

RTOL = 1e-4                              # how much gradients may differ, as a part of their norm
_ATOL = 1.2e-38                          # the smallest normal number of float32; below it, numbers have few digits
_MOST = 4_000_000                        # pairs of nodes that may be compared to find nodes that belong together


def beside(this: Facts, other: Facts, names: tuple[str, str], rtol: float = RTOL) -> Facts:
    """The document `this`, in which each node has the gradient of the `other` pass, and how much the two differ.

    `names` say which pass is which, this one first.
    """
    found = _pairs(this["nodes"], other["nodes"])
    nodes: list[Facts] = []
    for node in this["nodes"]:
        twin = found.get(node["id"])
        change = None if twin is None else _change(node, twin, rtol)
        nodes.append({**node, "change": change, "other": twin and {
            "name": twin["name"], "gradient": twin["gradient"], "picture": twin["picture"]}})
    paired = {id(twin) for twin in found.values()}
    order = [step["node"] for step in this["steps"]]
    differing = [place for place in order if nodes[place]["change"] not in (None, 0.0)]
    there = [{key: node[key] for key in ("name", "label", "kind", "outputs", "gradient")}
             for node in other["nodes"] if id(node) not in paired]
    return {**this, "nodes": nodes, "beside": {
        "names": [*names], "differing": len(differing), "first": differing[0] if differing else None,
        "here": [node["id"] for node in nodes if node["other"] is None], "there": there}}


def summary(both: Facts) -> str:
    """What differs in a document of two passes, in a few words."""
    seen, (this, other) = both["beside"], both["beside"]["names"]
    words = [f"{seen['differing']} of {len(both['nodes'])} gradients differ"]
    for nodes, name in ((seen["here"], this), (seen["there"], other)):
        if nodes:
            words.append(f"{len(nodes)} node{'s are' if len(nodes) > 1 else ' is'} only in {name}")
    return ", ".join(words)


# Which nodes belong together


def _pairs(these: Sequence[Facts], others: Sequence[Facts]) -> dict[int, Facts]:
    """For each node the node of the other pass that belongs to it, by the node's number.

    Operations are aligned in the engine's order. Leaves belong together if they are the same inputs of such operations,
    or else if they have the same name.
    """
    one, two = ([node for node in nodes if node["kind"] != "leaf"] for nodes in (these, others))
    found = {one[i]["id"]: two[j] for i, j in _aligned([_key(node) for node in one], [_key(node) for node in two])}
    theirs = {node["id"]: node for node in others}
    leaves = {node["id"]: node for node in these if node["kind"] == "leaf"}
    taken: set[int] = set()

    def take(leaf: int, twin: Facts | None) -> None:
        if twin is not None and twin["kind"] == "leaf" and leaf not in found and twin["id"] not in taken:
            found[leaf] = twin
            taken.add(twin["id"])

    for node in one:
        twin = found.get(node["id"])
        for link, link_there in zip(node["links"], () if twin is None else twin["links"]):
            if link is not None and link_there is not None and link[0] in leaves:
                take(link[0], theirs[link_there[0]])
    labels = {node["label"]: node for node in others if node["kind"] == "leaf"}
    for leaf, node in leaves.items():
        take(leaf, labels.get(node["label"]))
    return found


def _key(node: Facts) -> tuple[Any, ...]:
    return node["name"], *[tuple(output["shape"] or ()) for output in node["outputs"]]


def _aligned(one: Sequence[Any], two: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """The places of equal items in two sequences, in order: what both begin and end with, and most of what is between.
    """
    start, most = 0, min(len(one), len(two))
    while start < most and one[start] == two[start]:
        start += 1
    end = 0
    while end < most - start and one[-1 - end] == two[-1 - end]:
        end += 1
    yield from ((i, i) for i in range(start))
    left, right = one[start: len(one) - end], two[start: len(two) - end]
    if len(left) * len(right) <= _MOST:
        for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            yield from ((start + block.a + i, start + block.b + i) for i in range(block.size))
    yield from ((len(one) - end + i, len(two) - end + i) for i in range(end))


# How much they differ


def _change(node: Facts, twin: Facts, rtol: float) -> float | str:
    """How much the gradients of two nodes differ, as a part of the larger norm; 0 for what is allowed."""
    one, two = node["gradient"], twin["gradient"]
    if one is None or two is None:
        return 0.0 if one is two else "inf"
    if one["size"] != two["size"] or any([one[key] != two[key] for key in ("nans", "infs")]):
        return "inf"
    scale = max(_size(one), _size(two))
    apart = max([abs(a - b) for a, b in zip(_facts(one), _facts(two), strict=True)])
    (values, fuzzy), (others, fuzzy_there) = _numbers(node["picture"]), _numbers(twin["picture"])
    for a, b in zip(values, others) if len(values) == len(others) else ():
        if isfinite(a) and isfinite(b):
            apart = max(apart, abs(a - b) - fuzzy - fuzzy_there)
        elif a != b and (a == a or b == b):             # two NaN are no difference
            return "inf"
    change = apart / scale if apart > _ATOL else 0.0
    return number(change) if change > rtol and change < inf else 0.0


def _size(gradient: Facts) -> float:
    """The norm of the finite elements of a gradient."""
    if type(gradient["norm"]) is not str:
        return float(gradient["norm"])
    finite = gradient["size"] - gradient["nans"] - gradient["infs"]
    mean, deviation = (float(gradient[key] or 0) for key in ("mean", "std"))
    return sqrt(finite) * hypot(mean, deviation)


def _facts(gradient: Facts) -> list[float]:
    """The numbers of statistics that two equal gradients have in common."""
    facts = [gradient[key] for key in ("mean", "std", "min", "max")] + gradient.get("parts", [0, 0])
    return [_size(gradient), *[float(fact or 0) for fact in facts]]


def _numbers(picture: Facts | None) -> tuple[list[complex], float]:
    """The numbers that a picture shows, and how far from the true numbers they may be. What is not finite is a NaN."""
    if picture is None:
        return [], 0.0
    if picture["kind"] == "numbers":
        return [complex(value) for value in picture["values"]], 0.0
    levels = np.frombuffer(base64.b64decode(picture["values"]), np.uint8).astype(float)
    low, high = float(picture["lo"]), float(picture["hi"])
    step = (high - low) / 254
    return [complex(value) for value in np.where(levels == 0, np.nan, low + (levels - 1) * step)], step / 2
