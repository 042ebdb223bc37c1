"""Two passes beside each other: which nodes belong together, and what counts as a difference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn, viz


def network(change: Callable[[Any], Any] = lambda h: h, kind: Any = nn.Tanh) -> Any:
    """A pass through two layers, with a change between them."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 6), kind(), nn.Linear(6, 1))
    x = torch.randn(8, 5)
    return viz.explore(lambda: model[2](change(model[1](model[0](x)))).square().mean(), params=model)


def differing(document: dict[str, Any]) -> set[str]:
    return {node["label"] for node in document["nodes"] if node["change"] not in (None, 0.0)}


def test_equal_passes_do_not_differ() -> None:
    both = network().beside(network()).document
    assert both["beside"] == {"names": ["this pass", "the other pass"], "differing": 0, "first": None, "here": [],
                              "there": []}
    assert {node["change"] for node in both["nodes"]} == {0.0}
    assert all(node["other"]["gradient"] == node["gradient"] for node in both["nodes"])
    json.dumps(both, allow_nan=False)


def test_rounding_is_no_difference() -> None:
    assert not differing(network(lambda h: h * (1 + 1e-6)).beside(network(lambda h: h * 1.0)).document)


def test_what_a_change_makes_different() -> None:
    both = network(lambda h: h * 1.01).beside(network(lambda h: h * 1.0), ("after", "before")).document
    assert both["beside"]["names"] == ["after", "before"]
    assert both["nodes"][both["beside"]["first"]]["label"] == "AddmmBackward0"
    assert {"2.weight", "2.bias", "0.weight", "0.bias"} <= differing(both)
    assert "MeanBackward0" not in differing(both)
    bias = next(node for node in both["nodes"] if node["label"] == "2.bias")
    norms = bias["gradient"]["norm"], bias["other"]["gradient"]["norm"]
    assert bias["change"] == pytest.approx(abs(norms[0] - norms[1]) / max(norms), rel=1e-3)


def test_nodes_that_only_one_pass_has() -> None:
    both = network(lambda h: h.exp()).beside(network()).document
    assert [both["nodes"][place]["name"] for place in both["beside"]["here"]] == ["ExpBackward0"]
    assert both["beside"]["there"] == []
    other = network().beside(network(lambda h: h.exp())).document
    assert [node["name"] for node in other["beside"]["there"]] == ["ExpBackward0"]
    assert other["beside"]["here"] == []
    swapped = network(kind=nn.ReLU).beside(network()).document
    assert [swapped["nodes"][place]["name"] for place in swapped["beside"]["here"]] == ["ReluBackward0"]
    assert [node["name"] for node in swapped["beside"]["there"]] == ["TanhBackward0"]


def test_leaves_belong_together_by_what_uses_them() -> None:
    def passed(names: list[str], scale: float) -> Any:
        leaves = {name: torch.full((3,), float(i + 1), requires_grad=True) for i, name in enumerate(names)}
        one, two = leaves.values()
        return viz.explore((one * two * scale).sum(), params=leaves)

    both = passed(["a", "b"], 1.0).beside(passed(["x", "y"], 2.0)).document
    assert {node["label"]: node["other"]["gradient"]["max"] for node in both["nodes"] if node["kind"] == "leaf"} == {
        "a": 4.0, "b": 2.0}


@pytest.mark.parametrize(("one", "other"), [([1., 2., 3.], [3., 2., 1.]), ([1.] * 20 + [2., 3.], [1.] * 20 + [3., 2.])])
def test_numbers_in_another_order_differ(one: list[float], other: list[float]) -> None:
    """All statistics are the same."""
    def passed(numbers: list[float]) -> Any:
        x = torch.zeros(len(numbers), requires_grad=True)
        return viz.explore((x * torch.tensor(numbers)).sum(), params={"x": x})

    assert differing(passed(one).beside(passed(other)).document) == {"x"}
    assert not differing(passed(one).beside(passed(one)).document)


def test_bad_numbers_and_missing_gradients_differ() -> None:
    def passed(factor: float) -> Any:
        x = torch.ones(3, requires_grad=True)
        return viz.explore((x * factor).sum(), params={"x": x})

    both = passed(float("nan")).beside(passed(1.0)).document
    assert [node["change"] for node in both["nodes"] if node["label"] == "x"] == ["inf"]
    assert not differing(passed(float("nan")).beside(passed(float("nan"))).document)
    assert not differing(passed(1e-44).beside(passed(3e-44)).document)          # of which float32 has no digits


def of_numbers(numbers: list[Any], **options: Any) -> Any:
    """A pass in which these numbers arrive at a leaf."""
    factor = torch.tensor(numbers, **options)
    x = torch.zeros(len(numbers), dtype=factor.dtype, requires_grad=True)
    return viz.explore((x * factor).sum().real, params={"x": x})


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(("one", "other"), [
    ([1 + 2j, 3j], [1 - 2j, 3j]), ([1j] * 30, [-1j] * 30), ([NAN, 1., 2.], [1., NAN, 2.]),
    ([NAN, 1., 2.], [NAN, 1., 3.]), ([INF, 1.], [-INF, 1.]), ([INF, 1e-3], [INF, 2e-3]),
    ([NAN] * 10 + [1.] * 10, [1.] * 10 + [NAN] * 10)])
def test_phases_signs_and_places_count(one: list[Any], other: list[Any]) -> None:
    """The absolute values, or the numbers of NaN and infinities, are the same."""
    assert "x" in differing(of_numbers(one).beside(of_numbers(other)).document)
    assert not differing(of_numbers(one).beside(of_numbers(one)).document)


def test_a_page_is_read_again(tmp_path: Path) -> None:
    network().save(tmp_path / "before.html")
    both = network(lambda h: h * 2).beside(tmp_path / "before.html").document
    assert both["beside"]["differing"] > 5
    viz.explore(torch.ones((), requires_grad=True)).beside(tmp_path / "before.html").save(tmp_path / "both.html")
    again = network().beside(tmp_path / "both.html").document
    assert again["beside"]["differing"] == 0
    (tmp_path / "other.html").write_text("<p>no page</p>")
    with pytest.raises(ValueError, match="no page of the explorer"):
        network().beside(tmp_path / "other.html")
