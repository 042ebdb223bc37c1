"""Loops as groups, what is open at first, and pictures of large graphs, in which the rest is folded."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

import retrograd as torch
from programs.explored import explored
from retrograd import nn, viz
from retrograd.viz.folding import folded
from retrograd.viz.graphs import drawn
from retrograd.viz.groups import groups_of
from showing.drawings import nodes, read, titles


def unrolled(steps: int) -> Any:
    """A recurrent network without modules."""
    w, u = torch.randn(4, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    h = torch.zeros(1, 4)
    for x in torch.randn(steps, 1, 2):
        h = torch.tanh(h @ w + x @ u.t())
    return h.sum()


class Looped(nn.Module):
    """One cell that runs over a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.RNNCell(2, 4), nn.Linear(4, 1)

    def forward(self, steps: Any) -> Any:
        h = torch.zeros(1, 4)
        for x in steps:
            h = self.cell(x, h)
        return self.out(h)


def test_a_loop_is_a_run_of_numbered_steps() -> None:
    groups = viz.explore(unrolled(20)).document["groups"]
    (run,) = [number for number, group in enumerate(groups) if group["repeats"] > 1]
    assert (groups[run]["path"], groups[run]["class"], groups[run]["repeats"]) == ("", "loop", 20)
    steps = [group for group in groups if group["parent"] == run]
    assert [step["step"] for step in steps] == [*range(20, 0, -1)]
    assert {len(step["children"]) for step in steps} == {5}


def test_a_module_that_is_called_again_is_a_numbered_step() -> None:
    model, x = Looped(), torch.randn(30, 1, 2)
    document = viz.explore(lambda: model(x).sum(), params=model).document
    groups = document["groups"]
    (run,) = [number for number, group in enumerate(groups) if group["repeats"] > 1]
    steps = [number for number, group in enumerate(groups) if group["parent"] == run]
    assert [groups[number]["step"] for number in steps] == [*range(30, 0, -1)]
    assert {groups[number]["path"] for number in steps} == {"cell"}
    assert run in document["open"]
    assert not {*steps} & {*document["open"]}


def test_layers_are_not_numbered() -> None:
    assert {group["step"] for group in explored("large").document["groups"]} == {None}


@pytest.mark.parametrize("name", ["mlp", "cnn", "views", "nan"])
def test_all_groups_of_a_small_graph_are_open(name: str) -> None:
    document = explored(name).document
    assert document["open"] == [*range(len(document["groups"]))]


def test_equal_blocks_of_a_large_graph_are_folded() -> None:
    document = explored("large").document
    groups = document["groups"]
    (run,) = [number for number, group in enumerate(groups) if group["repeats"] > 8]
    blocks = [number for number, group in enumerate(groups) if group["parent"] == run]
    assert run in document["open"]
    assert len(blocks) == 37
    assert not {*blocks[1:]} & {*document["open"]}


# Pictures


def encoder(depth: int) -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
    with viz.recording():
        loss = model(torch.randn(2, 3, 8, requires_grad=True)).sum()
    return loss, model


def height(root: ElementTree.Element) -> float:
    return float(root.get("height", "0"))


def test_a_large_model_is_folded_by_module() -> None:
    root = read(viz.svg(*encoder(6)))
    boxes = [text[0] for kind, _, text in nodes(root) if kind == "group"]
    assert [text for text in boxes if "EncoderLayer" in text] == [
        f"layers.{number} TransformerEncoderLayer" for number in (4, 3, 2, 1)]
    assert {"layers.5 TransformerEncoderLayer", "layers.5.linear1 Linear"} <= {*titles(root)}
    assert height(root) < 3000
    assert root.get("aria-label") == "Gradient graph: 385 operations, 73 leaves"


def test_a_small_model_is_not_folded() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert "group" not in {kind for kind, *_ in nodes(read(viz.svg(model(torch.ones(1, 2)), model)))}


def test_a_loop_is_one_box_beside_the_leaves_that_it_shares() -> None:
    root = read(viz.svg(unrolled(100)))
    assert [(kind, text[0]) for kind, _, text in nodes(root)] == [
        ("operator", "SumBackward0"), ("group", "loop × 100"), ("leaf", "leaf"), ("leaf", "leaf")]


@pytest.mark.parametrize("make", [lambda: encoder(6), lambda: (unrolled(50), None)])
def test_what_is_folded_keeps_its_wires(make: Any) -> None:
    """Each edge between two boxes of the folded graph is one of the whole graph, and the other way round."""
    whole = drawn(*make())
    small = folded(whole)
    assert len(small.nodes) < len(whole.nodes)
    again = groups_of(small)                                     # has no cycle
    assert sorted(child for group in again for child in group.children if child >= 0) == [*range(len(small.nodes))]
    assert sum(int(node.name.split()[0]) if node.kind == "group" else 1 for node in small.nodes) == len(whole.nodes)
    place = {live: i for i, live in enumerate(small.live)}
    for i, (node, live) in enumerate(zip(small.nodes, small.live)):
        if node.kind != "group":
            old = whole.nodes[whole.live.index(live)]
            assert len(node.links) == len(old.links)
            for new, link in zip(node.links, old.links):
                assert (new is None) == (link is None)
                if new is not None and link is not None and whole.live[link[0]] in place:
                    target = place[whole.live[link[0]]]
                    assert small.nodes[target].kind == "group" or new == (target, link[1])
        assert all(link is None or link[1] < len(small.nodes[link[0]].shapes) for link in node.links)
        assert all(link is None or link[0] != i for link in node.links)


def test_names_of_the_namespace() -> None:
    assert dir(viz) == sorted(viz.__all__)
