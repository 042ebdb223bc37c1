"""Pictures of gradient graphs as text: the tree, and DOT whose lines are parsed here."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn, viz


def leaf(*shape: int) -> Any:
    return torch.ones(shape, requires_grad=True)


def network() -> tuple[Any, Any]:
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    return nn.functional.cross_entropy(net(torch.ones(5, 4)), torch.tensor([0, 1, 0, 1, 0])), net


# Trees


def test_a_network_as_a_tree() -> None:
    loss, net = network()
    assert viz.tree(loss, net.named_parameters()).splitlines() == [
        "NllLossBackward0 []",
        "└─ LogSoftmaxBackward0 [5, 2]",
        "   └─ AddmmBackward0 [5, 2]",
        "      ├─ 2.bias [2]",
        "      ├─ ReluBackward0 [5, 3]",
        "      │  └─ AddmmBackward0 [5, 3]",
        "      │     ├─ 0.bias [3]",
        "      │     └─ TBackward0 [4, 3]",
        "      │        └─ 0.weight [3, 4]",
        "      └─ TBackward0 [3, 2]",
        "         └─ 2.weight [2, 3]",
    ]


def test_names_come_as_a_dictionary_or_as_pairs() -> None:
    x, y = leaf(3), leaf(3)
    product = x * y
    assert viz.tree(product, {"x": x, "y": y}) == viz.tree(product, [("x", x), ("y", y)])
    assert viz.tree(product, iter([("y", y)])).splitlines() == ["MulBackward0 [3]", "├─ x [3]", "└─ y [3]"]


def test_other_leaves_have_the_names_that_the_picture_has() -> None:
    weight, held = leaf(3), [leaf(3)]
    product = weight * held[0]
    assert viz.tree(product).splitlines()[1:] == ["├─ weight [3]", "└─ leaf [3]"]
    picture = viz.svg(product)
    assert ">weight<" in picture
    assert ">leaf<" in picture
    assert 'label="weight\\n[3]"' in viz.dot(product)
    model = nn.Sequential(nn.Linear(2, 1))
    assert "0.weight [1, 2]" in viz.tree(model(torch.ones(1, 2)))
    assert model is not None


def test_a_module_names_its_parameters() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    loss = model(torch.ones(1, 2)).sum()
    assert viz.tree(loss, model) == viz.tree(loss, model.named_parameters())
    assert "2.weight [1, 3]" in viz.tree(loss, model)
    assert viz.dot(loss, model) == viz.dot(loss, dict(model.named_parameters()))
    tied = nn.ModuleDict({"first": model[2], "second": model[2]})
    assert "first.weight [1, 3]" in viz.tree(tied["second"](torch.ones(1, 3)), tied)


@pytest.mark.parametrize(("params", "kind"), [
    (nn.Linear(2, 1).parameters, "Parameter"), (lambda: 3, "int"), (lambda: ["w"], "str"),
    (lambda: {0: torch.ones(1)}, "tuple"), (lambda: {"w": 1.0}, "tuple"), (lambda: torch.ones(2), "Tensor"),
])
@pytest.mark.parametrize("draw", [viz.tree, viz.dot])
def test_what_names_no_leaves(params: Any, kind: str, draw: Any) -> None:
    loss = nn.Linear(2, 1)(torch.ones(1, 2)).sum()
    with pytest.raises(TypeError, match=f"the leaves are named by a Module, .* not by {kind}"):
        draw(loss, params())


def test_constants_are_left_out() -> None:
    x = leaf(2)
    assert viz.tree(torch.ones(2) * x * 3).splitlines() == [
        "MulBackward0 [2]", "└─ MulBackward0 [2]", "   └─ x [2]"]


def test_what_is_shared_is_shown_once() -> None:
    x = leaf(3)
    y = (x * 2).exp()
    assert viz.tree(y * y + y, {"x": x}).splitlines() == [
        "AddBackward0 [3]",
        "├─ MulBackward0 [3]",
        "│  ├─ ExpBackward0 [3]",
        "│  │  └─ MulBackward0 [3]",
        "│  │     └─ x [3]",
        "│  └─ ExpBackward0 [3] (see above)",
        "└─ ExpBackward0 [3] (see above)",
    ]


def test_a_leaf_is_a_tree_of_one_line() -> None:
    x = leaf(2, 3)
    assert viz.tree(x, {"x": x}) == "x [2, 3]"


def test_nodes_of_several_outputs_say_which() -> None:
    a, b = leaf(5).split(3)
    assert viz.tree(a.sum() * b.sum()).splitlines() == [
        "MulBackward0 []",
        "├─ SumBackward0 []",
        "│  └─ SplitBackward0 output 0 [3]",
        "│     └─ leaf [5]",
        "└─ SumBackward0 []",
        "   └─ SplitBackward0 output 1 [2] (see above)",
    ]


def test_several_beginnings_and_nodes() -> None:
    x = leaf(2)
    y, z = x.exp(), x.sum()
    assert viz.tree([y, z]) == viz.tree(y) + "\n" + viz.tree(z)
    assert viz.tree(y.grad_fn) == viz.tree(y)


def test_a_function_of_the_user() -> None:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1, "no tensor", x * 2

        @staticmethod
        def backward(ctx: Any, a: Any, _: Any, b: Any) -> Any:
            return a + b

    first, _, last = Both.apply(leaf(2))
    assert viz.tree([first, last]).splitlines() == [
        "BothBackward output 0 [2]", "└─ leaf [2]", "BothBackward output 2 [2] (see above)"]
    assert '[label="BothBackward"]' in viz.dot(last)


def chain(links: int) -> Any:
    y = leaf()
    for _ in range(links):
        y = y * 1.0
    return y


def test_deep_graphs_take_no_recursion() -> None:
    deep = chain(100_000)
    lines = viz.tree(deep, max_nodes=5).splitlines()
    assert lines[4] == "         └─ MulBackward0 []"
    assert lines[5:] == ["… (cut after 5 nodes: max_nodes= shows more)"]
    assert len(viz.tree(deep).splitlines()) == 201
    assert viz.dot(deep).count(" -> ") == 100_000
    whole = viz.tree(deep, max_nodes=1_000_000)          # the lines of a deep tree are as long as the tree is deep
    assert 10_000_000 < len(whole) < 11_000_000
    count = whole.count("\n")
    assert whole.endswith(f"\n… (cut after {count} nodes: the text is too long)")


def test_a_graph_of_just_max_nodes_is_not_cut() -> None:
    assert len(viz.tree(chain(4), max_nodes=5).splitlines()) == 5


@pytest.mark.parametrize("draw", [viz.tree, viz.dot])
def test_where_there_is_nothing_to_draw(draw: Callable[..., str]) -> None:
    for constant in (torch.ones(2), leaf(2).detach()):
        with pytest.raises(ValueError, match="there is no graph to draw: this tensor requires no grad"):
            draw(constant)
    for value in (3, [3], None):
        with pytest.raises(TypeError, match="not from (int|NoneType)"):
            draw(value)


# DOT

NODE = re.compile(r'  n(\d+) \[label="((?:[^"\\]|\\.)*)"(, fillcolor="#\w{6}")?\];')
EDGE = re.compile(r'  n(\d+) -> n(\d+)(?: \[label="([^"]*)"\])?;')


def parsed(text: str) -> tuple[dict[int, str], set[int], list[tuple[int, int, str]]]:
    """The labels by number, the numbers of the leaves, and the edges of a DOT text; every line must be understood."""
    first, *lines, last = text.removesuffix("\n").split("\n")
    assert (first, last) == ("digraph gradients {", "}")
    assert lines[0] == "  rankdir=TB;"
    assert re.fullmatch(r'  node \[(\w+=("[^"]*"|\w+)(, )?)+\];', lines[1])
    labels, leaves, edges = {}, set(), []
    for line in lines[2:]:
        if node := NODE.fullmatch(line):
            labels[int(node[1])] = re.sub(r"\\(.)", lambda escaped: {"n": "\n"}.get(escaped[1], escaped[1]), node[2])
            if node[3]:
                leaves.add(int(node[1]))
        else:
            edge = EDGE.fullmatch(line)
            assert edge is not None, line
            edges.append((int(edge[1]), int(edge[2]), edge[3] or ""))
    return labels, leaves, edges


def test_a_network_as_dot() -> None:
    loss, net = network()
    labels, leaves, edges = parsed(viz.dot(loss, net.named_parameters()))
    assert {labels[number] for number in leaves} == {
        "0.weight\n[3, 4]", "0.bias\n[3]", "2.weight\n[2, 3]", "2.bias\n[2]"}
    assert sorted(set(labels) - leaves) == [number for number, label in sorted(labels.items()) if "Backward0" in label]
    named = sorted((labels[a].partition("\n")[0], labels[b].partition("\n")[0]) for a, b, _ in edges)
    assert named == sorted([
        ("NllLossBackward0", "LogSoftmaxBackward0"), ("LogSoftmaxBackward0", "AddmmBackward0"),
        ("AddmmBackward0", "2.bias"), ("AddmmBackward0", "ReluBackward0"), ("AddmmBackward0", "TBackward0"),
        ("TBackward0", "2.weight"), ("ReluBackward0", "AddmmBackward0"), ("AddmmBackward0", "0.bias"),
        ("AddmmBackward0", "TBackward0"), ("TBackward0", "0.weight")])
    assert all(label == "" for *_, label in edges)


def test_dot_has_a_shared_node_once_and_every_edge() -> None:
    x = leaf(2)
    labels, leaves, edges = parsed(viz.dot(x * x, {"x": x}))
    assert labels == {0: "MulBackward0\n[2]", 1: "x\n[2]"}
    assert (leaves, edges) == ({1}, [(0, 1, ""), (0, 1, "")])


def test_dot_tells_outputs_apart() -> None:
    a, b = leaf(5).split(3)
    labels, _, edges = parsed(viz.dot([a.sum(), b.sum()]))
    split = next(number for number, label in labels.items() if label == "SplitBackward0")
    assert [label for _, below, label in edges if below == split] == ["output 0", "output 1"]


def test_dot_escapes_what_it_must() -> None:
    x = leaf(1)
    for name in ('say "x"', "back\\slash", "two\nlines", 'end\\"'):
        labels, *_ = parsed(viz.dot(x.exp(), {name: x}))
        assert labels[1] == f"{name}\n[1]"


def test_a_name_of_several_lines_is_one_line_of_the_tree() -> None:
    x = leaf(1)
    assert viz.tree(x.exp(), {"two\nlines\x00": x}) == "ExpBackward0 [1]\n└─ two\\nlines\\x00 [1]"
    assert "two\\nlines\\\\x00" in viz.dot(x.exp(), {"two\nlines\x00": x})


def test_pictures_are_reached_from_the_package() -> None:
    assert torch.viz is viz
    assert viz.__all__ == ["Picture", "dot", "explore", "graph", "progress", "recording", "svg", "tree"]
