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


def test_sparse_gradients_are_shown_by_their_stored_elements() -> None:
    table = torch.nn.Embedding(3, 2, sparse=True)
    document = viz.explore(table(torch.tensor([0, 0])).sum(), params=table).document
    node = node_of(document, "AccumulateGrad")
    assert (node["gradient"]["norm"], node["problem"], document["totals"]["without_gradient"]) == (2.82843, None, 0)
    assert node["picture"] == {"kind": "numbers", "shape": [1, 2], "values": [2.0, 2.0]}
    assert node["notes"] == ["The gradient is sparse: the numbers are those of its stored elements."]
    assert document["steps"][-2]["arrivals"][0]["norm"] == 2.82843


def test_sparse_values_are_shown() -> None:
    w = torch.eye(3).to_sparse_csr()
    document = viz.explore(torch.sparse.mm(w * 2, torch.ones(3, 1, requires_grad=True)).sum()).document
    node = node_of(document, "SparseAddmmBackward0")
    saved = next(value for value in node["saved"] if value["name"] == "mat1")
    assert (saved["shape"], saved["stats"]["max"], saved["bytes"]) == ([3, 3], 2.0, 68)
    assert node["bytes"] == 68


def test_what_has_no_pass_or_no_numbers_is_refused() -> None:
    with pytest.raises(RuntimeError, match="tensors of the device 'meta' have none"):
        viz.explore(torch.ones(2, device="meta", requires_grad=True).exp().sum())
    with pytest.raises(TypeError, match="not ExpBackward0$"):
        viz.explore(torch.ones(2, requires_grad=True).exp().grad_fn)


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


def test_empty_gradients_have_not_vanished() -> None:
    w = torch.randn(0, 3, requires_grad=True)
    assert viz.explore((w * 2).relu().exp().sum()).document["totals"]["vanished"] is None
