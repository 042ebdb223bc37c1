"""What the explorer's document says of gradients where they arrive, of the values of leaves, and of zeros."""

from __future__ import annotations

import math
from typing import Any

import pytest

import retrograd as torch
from retrograd import viz


def node_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The first node of this name."""
    found: dict[str, Any] = next(node for node in document["nodes"] if node["name"] == name)
    return found


def test_leaves_show_their_values() -> None:
    x = torch.tensor([1., -2.], requires_grad=True)
    document = viz.explore((x * x).sum()).document
    value = node_of(document, "AccumulateGrad")["value"]
    assert value["picture"] == {"kind": "numbers", "shape": [2], "values": [1.0, -2.0]}
    assert value["stats"]["norm"] == pytest.approx(math.sqrt(5), rel=1e-5)
    assert node_of(document, "MulBackward0")["value"] is None


def test_a_gradient_that_arrives_with_others_has_its_own_picture() -> None:
    x = torch.tensor([1., -2.], requires_grad=True)
    document = viz.explore((x * x + 3 * x).sum()).document
    leaf = node_of(document, "AccumulateGrad")
    arrived = [arrival for step in document["steps"] for arrival in step["arrivals"] if arrival["to"] == leaf["id"]]
    given = sorted(arrival["picture"]["values"] for arrival in arrived)
    assert given == [[1.0, -2.0], [1.0, -2.0], [3.0, 3.0]]
    assert leaf["picture"]["values"] == [5.0, -1.0]
    alone = [arrival for step in document["steps"] for arrival in step["arrivals"] if arrival not in arrived]
    assert alone
    assert not any("picture" in arrival for arrival in alone)


def test_a_gradient_that_a_hook_changes_has_its_own_picture() -> None:
    x = torch.tensor([1., -2.], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    document = viz.explore(y.sum()).document
    (arrival,) = document["steps"][0]["arrivals"]
    assert arrival["picture"]["values"] == [1.0, 1.0]
    assert node_of(document, "MulBackward0")["picture"]["values"] == [10.0, 10.0]


def test_where_the_gradient_vanishes() -> None:
    w = torch.full((2,), 1e-8, requires_grad=True)
    h = torch.ones(2)
    for _ in range(12):
        h = h * w
    document = viz.explore(h.sum()).document
    first, last = document["totals"]["vanished"]
    norms = [document["nodes"][step["node"]]["gradient"]["norm"] for step in document["steps"]
             if document["nodes"][step["node"]]["kind"] != "leaf"]
    assert (first, last) == (norms.index(0), len(norms) - 1)
    assert norms[first - 1] > 0
    assert document["totals"]["without_gradient"] == 0
    assert viz.explore((w * 2).sum()).document["totals"]["vanished"] is None


def test_a_gradient_that_vanishes_on_one_way_only() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    kept = (y * 2).exp()
    document = viz.explore(((x * 3).exp().sin() * 0).sum() + kept.sum()).document
    first, last = document["totals"]["vanished"]
    names = [document["nodes"][step["node"]]["name"] for step in document["steps"][first: last + 1]]
    assert names == ["SinBackward0", "ExpBackward0", "MulBackward0"]
