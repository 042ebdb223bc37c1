"""`retrograd.explain`: every function of torch can be explained, and what is said is what the source says."""

from __future__ import annotations

import re
import runpy
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import retrograd as torch
from retrograd.ops.framework import Op


def functions(space: Any) -> dict[str, FunctionType]:
    found = {name: getattr(space, name, None) for name in getattr(space, "__all__", None) or dir(space)}
    return {name: f for name, f in found.items() if isinstance(f, FunctionType) and not name.startswith("_")}


@cache
def lines_of(file: str) -> list[str]:
    path = next(path for folder in torch.__path__ if (path := Path(folder) / file).exists())
    return path.read_text().splitlines()


@pytest.mark.parametrize("space", [torch, torch.nn.functional, torch.Tensor, torch.linalg, torch.fft, torch.special])
def test_every_function_can_be_explained(space: Any) -> None:
    for name, function in functions(space).items():
        found = torch.explain(function)
        for section in found.sections:
            at = re.match(r"([\w/]+\.py):(\d+)$", section.says[-1]) if section.says and section.source else None
            if at is None:
                assert not section.source, name
                continue
            assert lines_of(at[1])[int(at[2]) - 1].strip() == section.source.splitlines()[0].strip(), name


@pytest.mark.parametrize(("function", "nodes"), [
    (torch.exp, {"ExpBackward0"}), (torch.Tensor.mul, {"MulBackward0"}), (torch.add, {"AddBackward0"}),
    (torch.mm, {"MmBackward0"}), (torch.nn.functional.linear, {"AddmmBackward0", "TBackward0"}),
    (torch.nn.functional.cross_entropy, {"LogSoftmaxBackward0", "NllLossBackward0"}),
    (torch.cumsum, {"CumsumBackward0"}), (torch.max, {"MaxBackward0", "MaxBackward1"}),
    (torch.conv2d, {"ConvolutionBackward0"}),
    (torch.sum, {"SumBackward0", "SumBackward1"}), (torch.clamp, {"ClampBackward0", "ClampBackward1"})])
def test_the_nodes_of_a_function(function: Any, nodes: set[str]) -> None:
    said = {word.rstrip(",") for section in torch.explain(function).sections for word in section.heading.split()}
    assert nodes <= said


def test_a_function_that_a_factory_makes_shows_its_operator_and_no_template() -> None:
    for function in (torch.cumsum, torch.cumprod, torch.max, torch.min, torch.conv1d, torch.conv2d, torch.cummax):
        text = repr(torch.explain(function))
        assert "def function" not in text, function
        assert f"operator {function.__name__}" in text or "operator convolution" in text


def test_what_is_saved_and_why() -> None:
    text = repr(torch.explain(torch.Tensor.mul))
    assert "A node saves: self, for the gradient of y; other, for the gradient of x." in text
    assert 'mul = elementwise("mul", np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)' in text
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).clone()
    y[0].exp_()
    node = repr(torch.explain(y.grad_fn))
    assert node.startswith("node torch::autograd::CopySlices\n  It gives gradients to: CloneBackward0.\n"
                           "  It has saved: result = float32[].")
    assert "operator exp: elementwise, node ExpBackward0" in node
    assert repr(torch.explain(y)) == node
    leaf = repr(torch.explain(x.exp().grad_fn.next_functions[0][0]))
    assert leaf.startswith("node torch::autograd::AccumulateGrad\n  It is the end of the graph")


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3


def test_functions_and_operators_of_a_program() -> None:
    headings = [section.heading for section in torch.explain(Scaled).sections]
    assert headings == ["Scaled.forward", "Scaled.backward"]
    node = torch.explain(Scaled.apply(torch.ones(2, requires_grad=True)).grad_fn)
    assert [section.heading for section in node.sections] == ["node ScaledBackward", *headings]
    assert "saved_tensors[0] = float32[2]" in repr(node)
    double = torch.op.elementwise("double", lambda x: 2 * x, x=lambda g: 2 * g)
    assert isinstance(double, Op)
    text = repr(torch.explain(double))
    assert text.startswith("operator double: elementwise, node DoubleBackward0\n  The kernel is <lambda>, at ")
    assert "A node saves: nothing." in text


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def test_in_a_notebook() -> None:
    found = torch.explain(torch.relu)
    parser = Text()
    parser.feed(found._repr_html_())
    assert not parser.open
    said = "".join(parser.said)
    for section in found.sections:
        assert section.source in said
        assert all(sentence in said for sentence in section.says)


def test_what_cannot_be_explained() -> None:
    with pytest.raises(TypeError, match="explain\\(\\) takes a function of torch, a method .* not int"):
        torch.explain(3)
    with pytest.raises(TypeError, match="explain\\(\\) knows the functions of torch, and .*functions is none of them"):
        torch.explain(functions)
    with pytest.raises(TypeError, match="not NoneType"):
        torch.explain(torch.ones(2))
    assert torch.compile.explain is not torch.explain


def test_a_rule_in_a_file_with_form_feeds(tmp_path: Path) -> None:
    """A form feed ends no line for Python, although `str.splitlines` ends a line there."""
    lines = ["import retrograd as torch", "\f", "\f", "class Double(torch.autograd.Function):",
             "    @staticmethod", "    def backward(ctx, g):", "        return g * 2"]
    (tmp_path / "paged.py").write_text("\n".join(lines))
    (section,) = torch.explain(runpy.run_path(str(tmp_path / "paged.py"))["Double"]).sections
    assert section.source == "@staticmethod\ndef backward(ctx, g):\n    return g * 2"
    assert section.says[-1].endswith("paged.py:5")
