"""Runs of equal blocks as groups, in the document of the explorer."""

from itertools import chain
from typing import Any

import pytest

import retrograd as torch
from programs.explored import Block, explored
from retrograd import nn, viz


def groups_of(loss: Any, model: Any) -> list[dict[str, Any]]:
    return viz.explore(loss, params=model).document["groups"]


def runs_of(groups: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(group["path"], group["class"], group["repeats"]) for group in groups if group["repeats"] > 1]


class Residual(nn.Module):
    """Blocks with an addition between them, and a layer of another size before and after."""

    def __init__(self, depth: int, width: int = 4) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(2, width), nn.Linear(width, 1)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))
                                     for _ in range(depth)])

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x) * 0.5
        return self.last(x).sum()


def test_layers_of_a_transformer_are_a_run() -> None:
    groups = explored("transformer").document["groups"]
    assert runs_of(groups) == [("layers.0 … layers.2", "Block", 3)]
    (run,) = [number for number, group in enumerate(groups) if group["repeats"] > 1]
    assert [group["path"] for group in groups if group["parent"] == run] == ["layers.2", "layers.1", "layers.0"]


def test_what_stands_between_blocks_belongs_to_the_run() -> None:
    model = Residual(6)
    found = viz.explore(lambda: model(torch.ones(3, 2)), params=model).document
    assert runs_of(found["groups"]) == [("blocks.0 … blocks.5", "Sequential", 6)]
    (run,) = [group for group in found["groups"] if group["repeats"] > 1]
    inside = [found["nodes"][child["node"]]["name"] for child in run["children"] if "node" in child]
    assert sorted(inside) == ["AddBackward0"] * 6 + ["MulBackward0"] * 6
    assert sum("group" in child for child in run["children"]) == 6


def test_modules_of_a_loop_are_a_run_with_the_leaves_that_only_they_use() -> None:
    found = explored("lstm").document
    assert runs_of(found["groups"]) == [("cell … out", "", 6)]
    (run,) = [group for group in found["groups"] if group["repeats"] > 1]
    leaves = {found["nodes"][child["node"]]["label"] for child in run["children"] if "node" in child}
    assert {"out.weight", "out.bias", "cell.weight_ih"} <= leaves


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_two_blocks_are_no_run(depth: int) -> None:
    model = Residual(depth)
    assert runs_of(groups_of(lambda: model(torch.ones(3, 2)), model)) == []


def test_blocks_of_other_sizes_are_no_run() -> None:
    blocks = [nn.Sequential(nn.Linear(k, k + 1), nn.Tanh(), nn.Linear(k + 1, k + 1)) for k in range(2, 9)]
    model = nn.Sequential(*blocks)
    assert runs_of(groups_of(lambda: model(torch.ones(2, 2)).sum(), model)) == []


def test_runs_inside_and_beside_each_other() -> None:
    model = nn.Sequential(*[Block() for _ in range(3)], nn.Linear(16, 8), *[Block(8) for _ in range(4)])
    groups = groups_of(lambda: model(torch.randn(2, 3, 16)).sum(), model)
    assert runs_of(groups) == [("4 … 7", "Block", 4), ("0 … 2", "Block", 3)]


@pytest.mark.parametrize("name", ["transformer", "lstm", "large"])
def test_every_node_is_in_one_group_and_every_place_on_one_rank(name: str) -> None:
    found = explored(name).document
    children = [child for group in found["groups"] for child in group["children"]]
    assert sorted(child["node"] for child in children if "node" in child) == [node["id"] for node in found["nodes"]]
    assert sorted(child["group"] for child in children if "group" in child) == [*range(1, len(found["groups"]))]
    for number, group in enumerate(found["groups"]):
        assert sorted(chain(*group["ranks"])) == [*range(len(group["children"]) + group["points"])]
        assert all({"group": number} in found["groups"][parent]["children"]
                   for parent in [group["parent"]] if parent is not None)
