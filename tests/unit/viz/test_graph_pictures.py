"""SVG pictures of gradient graphs: read as XML, with their shapes, words, lines and frames."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import retrograd as torch
from retrograd import nn, viz
from showing.drawings import SVG, nodes, read, titles


def leaf(*shape: int) -> Any:
    return torch.ones(shape, requires_grad=True)


def words(root: ElementTree.Element) -> list[str]:
    """What stands beside lines."""
    return [text.text or "" for text in root.iter(f"{SVG}text") if text.get("class") == "small weak start"]


def heads(root: ElementTree.Element) -> int:
    (path,) = [path for path in root.iter(f"{SVG}path") if path.get("class") == "heads"]
    return path.get("d", "").count("M")


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def test_a_network() -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    loss = nn.functional.cross_entropy(net(torch.ones(5, 4)), torch.tensor([0, 1, 0, 1, 0]))
    root = read(viz.svg(loss, net))
    assert nodes(root) == [
        ("operator", "NllLossBackward0: operator []", ["NllLossBackward0", "[]"]),
        ("operator", "LogSoftmaxBackward0: operator [5, 2]", ["LogSoftmaxBackward0", "[5, 2]"]),
        ("operator", "AddmmBackward0: operator [5, 2], in 2: Linear", ["AddmmBackward0", "[5, 2]"]),
        ("view", "TBackward0: view [3, 2], in 2: Linear", ["TBackward0", "[3, 2]"]),
        ("operator", "ReluBackward0: operator [5, 3]", ["ReluBackward0", "[5, 3]"]),
        ("operator", "AddmmBackward0: operator [5, 3], in 0: Linear", ["AddmmBackward0", "[5, 3]"]),
        ("view", "TBackward0: view [4, 3], in 0: Linear", ["TBackward0", "[4, 3]"]),
        ("leaf", "2.bias: parameter [2], in 2: Linear", ["2.bias", "[2]"]),
        ("leaf", "2.weight: parameter [2, 3], in 2: Linear", ["2.weight", "[2, 3]"]),
        ("leaf", "0.bias: parameter [3], in 0: Linear", ["0.bias", "[3]"]),
        ("leaf", "0.weight: parameter [3, 4], in 0: Linear", ["0.weight", "[3, 4]"]),
    ]
    assert titles(root) == ["2 Linear", "0 Linear"]
    assert heads(root) == 10
    assert root.get("aria-label") == root.findtext(f"{SVG}title") == "Gradient graph: 7 operations, 4 leaves"


def test_each_kind_has_its_own_shape_and_a_place_in_the_legend() -> None:
    x = leaf(3)
    y = x * 2
    v = y[:2]
    v *= 10
    picture = viz.svg(Double.apply(y).reshape(3, 1).exp())
    root = read(picture)
    kinds = [kind for kind, *_ in nodes(root)]
    assert kinds == ["operator", "view", "function", "write", "operator", "leaf"]
    legend = [group for group in root.iter(f"{SVG}g") if group.get("class") in kinds and group.get("role") is None]
    assert [group.findtext(f"{SVG}text") for group in legend] == [
        "operator", "leaf", "view", "write through a view", "function of the user"]
    shapes = {re.sub(r"[-\d. ]", "", group.find(f"{SVG}path").get("d"))  # type: ignore[union-attr, arg-type]
              for group in legend[2:]}
    assert len(shapes) == 3
    plain = read(viz.svg(x.exp()))
    assert words(plain) == []


def test_the_style_stays_in_the_picture_and_has_a_dark_form() -> None:
    style = read(viz.svg(leaf(2).exp())).findtext(f"{SVG}style", "")
    light, dark = style.split("@media (prefers-color-scheme:dark){")
    for rules in (light, dark.rstrip().removesuffix("}")):
        for selector in re.findall(r"([^{}]+)\{[^{}]*\}", rules):
            assert selector.strip().startswith(".retrograd-graph")
        assert all(f".{kind} path{{" in rules for kind in ("operator", "leaf", "view", "write", "function"))


def channels(color: str) -> list[float]:
    values = [int(color[i: i + 2], 16) / 255 for i in (1, 3, 5)]
    return [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def contrast(one: str, other: str) -> float:
    """By the rules for web content: 21 for black on white."""
    dark, light = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (channels(one), channels(other)))
    return (light + 0.05) / (dark + 0.05)


def test_texts_stand_out_from_what_is_behind_them() -> None:
    style = read(viz.svg(leaf(2).exp())).findtext(f"{SVG}style", "")
    for rules in style.split("@media"):
        (text,) = re.findall(r"graph text\{fill:(#\w{6})\}", rules)
        (weak,) = re.findall(r"\.weak\{fill:(#\w{6})\}", rules)
        (paper,) = re.findall(r"\.paper\{fill:(#\w{6})\}", rules)
        fills = re.findall(r"path\{fill:(#\w{6});stroke:(#\w{6})\}", rules)
        assert len(fills) == 6
        for fill, edge in [*fills, (paper, text)]:
            assert contrast(text, fill) > 7
            assert contrast(weak, fill) > 4.5
            assert contrast(edge, paper) > 2.9


def test_outputs_and_repeated_uses_are_marked() -> None:
    a, b = leaf(5).split(3)
    assert words(read(viz.svg(a.sum() * b.sum())))[:2] == ["1", "0"]
    x = leaf(2)
    assert words(read(viz.svg(x * x))) == ["×2"]


def test_leaves_get_the_names_of_variables() -> None:
    weight, bias = leaf(2), leaf(2)
    total = (weight * bias).sum()
    assert [text[0] for kind, _, text in nodes(read(viz.svg(total))) if kind == "leaf"] == ["weight", "bias"]
    named = read(viz.svg(total, {"w": weight}))
    assert [text[0] for kind, _, text in nodes(named) if kind == "leaf"] == ["w", "bias"]


def test_recorded_modules_have_a_frame_for_each_call() -> None:
    class Steps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.LSTMCell(2, 2)

        def forward(self, x: Any) -> Any:
            state = self.cell(x)
            return self.cell(x, state)[0]

    net = Steps()
    with viz.recording():
        out = net(torch.ones(1, 2))
    assert titles(read(viz.svg(out.sum(), net)))[1:] == ["cell LSTMCell", "cell LSTMCell"]


def test_what_is_no_name_of_xml_is_escaped() -> None:
    x = leaf(1)
    (_, _, text), = [node for node in nodes(read(viz.svg(x.exp(), {"<a & b>": x}))) if node[0] == "leaf"]
    assert text == ["<a & b>", "[1]"]


def test_signs_that_xml_does_not_have_are_written_as_in_python() -> None:
    """A lone surrogate is in no file, and XML has no control characters."""
    x = leaf(1)
    (_, _, text), = [node for node in nodes(read(viz.svg(x.exp(), {"a\x00\x1b\ud800\n": x}))) if node[0] == "leaf"]
    assert text == ["a\\x00\\x1b\\ud800\\n", "[1]"]


def test_other_dtypes_and_outputs_are_said() -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    kinds = {text[0]: text[1] for _, _, text in nodes(read(viz.svg([*x.split(1), x.exp()], {"x": x})))}
    assert kinds == {"SplitBackward0": "2 outputs", "ExpBackward0": "[2] float64", "x": "[2] float64"}


def test_a_deep_graph_is_drawn() -> None:
    x = leaf()
    y = x
    for _ in range(3000):
        y = y * 2
    loop, parameter = nodes(read(viz.svg(y)))
    assert loop == ("group", "loop × 3000: folded: a module or a run 3000 nodes", ["loop × 3000", "3000 nodes"])
    assert parameter[2] == ["x", "[]"]


@pytest.mark.parametrize("draw", [viz.svg, viz.graph])
def test_where_there_is_nothing_to_draw(draw: Any) -> None:
    with pytest.raises(ValueError, match="there is no graph to draw: this tensor requires no grad"):
        draw(torch.ones(2))
    with pytest.raises(TypeError, match="not from int"):
        draw(3)
    with pytest.raises(TypeError, match="the leaves are named by a Module"):
        draw(leaf(2).exp(), 3)


def test_a_picture_in_a_notebook_and_in_a_file(tmp_path: Path) -> None:
    x = leaf(2)
    loss = (x * x).sum()
    picture = viz.graph(loss, {"x": x})
    assert repr(picture) == "<the picture of a graph of 3 nodes>"
    assert picture._repr_svg_() == picture.svg == viz.svg(loss, {"x": x})
    assert "<iframe" in (picture._repr_html_() or "")
    picture.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == picture.svg
    picture.save(str(tmp_path / "graph.html"))
    assert "MulBackward0" in (tmp_path / "graph.html").read_text(encoding="utf-8")
    viz.graph(loss, iter([("weight", x)])).save(tmp_path / "named.html")
    assert '"weight"' in (tmp_path / "named.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"saved as \.svg or \.html, not as \.png"):
        picture.save("graph.png")
    with pytest.raises(ValueError, match="not as a file without suffix"):
        picture.save("graph")
    assert x.grad is None
    loss.backward()
    assert picture._repr_html_() is None                 # the graph was freed, and the picture remains
    assert viz.graph([x, loss])._repr_html_() is None
