"""torch.fx: graphs, the Python of graphs, changes of graphs and errors of traces are PyTorch's to the letter."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

import retrograd

Program = Callable[[Any], Any]


def seen(module: Any) -> list[str]:
    """All that a program sees of a traced module."""
    nodes = [(n.op, n.name, n.args, n.kwargs, [*n.users], n.type is None) for n in module.graph.nodes]
    return [str(module.graph), module.code, str(module), *map(str, nodes)]


def network(package: ModuleType) -> Any:
    """A module with a parameter, a buffer, a tensor of its own and modules inside."""
    class Net(package.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.lin = package.nn.Linear(3, 3)
            self.seq = package.nn.Sequential(package.nn.ReLU(), package.nn.Linear(3, 3))
            self.w = package.nn.Parameter(package.ones(3))
            self.register_buffer("buf", package.ones(3))
            self.own = package.ones(3)

        def forward(self, x, y=2):
            a = self.lin(x) + self.w
            b = package.relu(a).view(-1, a.shape[0])[..., None, 1:2]
            c = -(a @ a.t()).sum(dim=-1, keepdim=True) / y ** 2
            e = self.seq(a) * self.buf + self.own + package.ones(3)
            return {"p": (b, [c]), "q": slice(None, 2)}, package.cat([e, e], dim=1), 1 - a, package.float32, abs(a), a.T

    package.manual_seed(0)
    return Net()


def traced(function: Program) -> Program:
    """What a program sees of the trace of a function."""
    return lambda package: seen(package.fx.symbolic_trace(lambda x, y: function(package, x, y)))


def _halves(x: Any) -> Any:
    first, second = x.split(2)
    return first - second


TRACED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "operators": lambda t, x, y: (x + 1, 1 - x, x / y, x // 2, 2 ** x, x << 1, ~(x > 0), x % 2, x @ y,
                                x == y, -x, x & y),
    "names": lambda t, x, y: (x.sum(), t.sum(x), x.sum(0), t.add(x, y), x + y, t.add(x, 1), x.abs(), abs(x)),
    "attributes": lambda t, x, y: (x.shape[0], x.T, x.device, t.zeros(x.shape[0], dtype=t.float64, device=x.device)),
    "numbers": lambda t, x, y: (x.masked_fill(x > 0, -math.inf), y + float("nan"), None, t.float32, t.Size([1, 2])),
    "unpacked": lambda t, x, y: _halves(x) + y,
    "methods of constants": lambda t, x, y: (
        t.ones(3) * x, t.ones(3) - x, t.ones(3) / x, t.ones(3) ** x, t.ones(3) // x, t.ones(3) % x, t.eye(3) @ x,
        t.ones(3) < x, t.ones(3)[x], t.tensor([1]) & x, t.ones(3).mul(x), t.ones(3).clone().add_(x), t.ones(3).dot(x),
        t.ones(3).index_add(0, x, y), t.mul(t.ones(3), x), t.nn.functional.linear(t.ones(3), t.eye(3), x)),
    "functions": lambda t, x, y: (
        t.nn.functional.relu(x), t.nn.functional.dropout(x, 0.5, True), t.nn.functional.linear(x, y), t.exp(x),
        t.nn.functional.softmax(x, -1), t.nn.functional.layer_norm(x, (3,)), t.nn.functional.conv2d(x, y),
        t.nn.functional.cross_entropy(x, y), t.nn.functional.gelu(x), t.einsum("ij,jk", x, y), t.stack([x, y]),
        t.nn.functional.max_pool2d(x, 2), t.nn.functional.batch_norm(x, y, y), t.where(x > 0, x, y),
        t._assert(x, "no"))}
WRONG: dict[str, Callable[[Any], Any]] = {
    "branch": lambda x: 1 if x > 0 else 2, "loop": lambda x: [*x], "length": len, "int": int, "range": range,
    "mapping": lambda x: {**x}, "contents": lambda x: 5 in x, "object": lambda x: x[object()]}


@pytest.mark.parametrize("name", TRACED)
def test_functions(name: str) -> None:
    program = traced(TRACED[name])
    assert program(retrograd) == program(torch)


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_traced(name: str) -> None:
    said = []
    for package in (torch, retrograd):
        with pytest.raises((TypeError, ValueError, RuntimeError, NotImplementedError)) as caught:
            package.fx.symbolic_trace(lambda x: WRONG[name](x))
        said.append((type(caught.value).__name__, str(caught.value)))
    assert said[1] == said[0]


def test_a_module() -> None:
    results = []
    for package in (torch, retrograd):
        module = network(package)
        made = package.fx.symbolic_trace(module)
        x = package.linspace(-1, 1, 9).reshape(3, 3)
        assert made(x)[1].tolist() == module(x)[1].tolist()
        again = pickle.loads(pickle.dumps(package.fx.symbolic_trace(package.nn.Sequential(package.nn.Linear(2, 2)))))
        results.append([seen(made), [*made.state_dict()], copy.deepcopy(made).code, again.code])
    assert results[1] == results[0]


def test_changes_of_a_graph() -> None:
    def program(package: Any) -> Any:
        module = package.fx.symbolic_trace(lambda x, y: package.add(x, y).relu())
        node = next(n for n in module.graph.nodes if n.target is package.add)
        with module.graph.inserting_after(node):
            node.replace_all_uses_with(module.graph.call_function(package.mul, args=node.args))
        module.graph.erase_node(node)
        with module.graph.inserting_before(module.graph.output_node()):
            module.graph.call_function(package.sin, (next(iter(module.graph.nodes)),))
        module.graph.lint()
        module.recompile()
        first = seen(module)
        with pytest.raises(RuntimeError) as caught:
            module.graph.erase_node(next(iter(module.graph.nodes)))
        return first, module.graph.eliminate_dead_code(), str(module.graph), str(caught.value)

    assert program(retrograd) == program(torch)


def test_a_graph_by_hand() -> None:
    def program(package: Any) -> Any:
        graph = package.fx.Graph()
        x = graph.placeholder("x")
        added = graph.call_function(operator.add, (graph.call_module("lin", (x,)), graph.get_attr("w")))
        graph.output((graph.call_method("clamp", (added,), {"min": 0}), {"a": added}))
        module = package.fx.GraphModule(network(package), graph, "Named")
        formatted = [n.format_node() for n in graph.nodes]
        other = package.fx.Graph()
        other.output(other.graph_copy(graph, {}))
        added.update_arg(1, x)
        names = [n.name for n in reversed(graph.nodes)]
        return seen(module), formatted, str(other), str(added.args), str(x.users), names

    assert program(retrograd) == program(torch)


def test_interpreters_and_transformers() -> None:
    def program(package: Any) -> Any:
        names: list[str] = []

        class Noting(package.fx.Interpreter):  # type: ignore[name-defined, misc]
            def run_node(self, n: Any) -> Any:
                names.append(n.name)
                return super().run_node(n)

        class Products(package.fx.Transformer):  # type: ignore[name-defined, misc]
            def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
                return super().call_function(package.mul if target is operator.add else target, args, kwargs)

        module = package.fx.symbolic_trace(network(package))
        x = package.ones(2, 3)
        assert Noting(module).run(x)[1].tolist() == module(x)[1].tolist()
        return names, seen(Products(module).transform())

    assert program(retrograd) == program(torch)


def test_patterns_are_replaced() -> None:
    def program(package: Any) -> Any:
        module = package.fx.symbolic_trace(lambda a, b, c: package.relu(a + b) + package.relu(c + a).sum())
        found = package.fx.replace_pattern(
            module, lambda x, y: package.relu(x + y), lambda x, y: package.sigmoid(x * y))
        return len(found), [match.anchor.name for match in found], seen(module)

    assert program(retrograd) == program(torch)


def test_arguments_with_values() -> None:
    def program(package: Any) -> Any:
        def function(x, flag, y=3):
            return x + y if flag else x - y

        module = package.fx.symbolic_trace(function, concrete_args={"flag": True})
        return seen(module), module(package.ones(1), True).tolist()

    assert program(retrograd) == program(torch)
