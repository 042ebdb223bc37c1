"""torch.fx: what a program says of its modules, its arguments and its effects is in the graph, as in PyTorch."""

from __future__ import annotations

import copy
import enum
import functools
import operator
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch

import retrograd

PACKAGES = (retrograd, torch)


def same(program: Callable[[Any], Any]) -> Any:
    """What a program returns with both packages, after a comparison."""
    found, wanted = map(program, PACKAGES)
    assert found == wanted
    return found


def ended(call: Callable[[], Any]) -> str:
    """The result of a call, or its error."""
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class Color(enum.Enum):
    RED = 1


@dataclass
class Pair:
    first: Any
    second: int


class Named(NamedTuple):
    first: Any
    second: int


def first_of(*args: Any) -> Any:
    return args[0]


def with_package(function: Callable[[Any, Any], Any], package: Any) -> Callable[[Any], Any]:
    """The function of the second argument."""
    return lambda x: function(package, x)


def tied(package: Any) -> Any:
    """A module that reads parameters and buffers of layers of torch.nn."""
    class Net(package.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.emb, self.lin = package.nn.Embedding(3, 2), package.nn.Linear(2, 2)
            self.norm, self.attention = package.nn.BatchNorm1d(2), package.nn.MultiheadAttention(2, 1)

        def forward(self, i):
            x = self.norm(self.lin(self.emb(i))) @ self.emb.weight.t()
            size = self.lin.weight.shape[0] if package.fx.Tracer.param_shapes_seen else 2
            x = x + self.lin.weight.sum() + self.lin.bias.sin().sum() + self.lin.weight[0, 0] * size
            return x + self.norm.running_mean.sum() + self.attention.in_proj_weight.sum()

    package.manual_seed(0)
    return Net()


@pytest.mark.parametrize("constant", [False, True])
def test_parameters_of_layers_are_attributes(constant: bool) -> None:
    def program(package: Any) -> Any:
        package.fx.Tracer.param_shapes_seen = constant
        module = tied(package).eval()
        made = package.fx.GraphModule(module, package.fx.Tracer(param_shapes_constant=constant).trace(module))
        numbers = package.tensor([0, 1])
        assert made(numbers).tolist() == module(numbers).tolist()
        with package.no_grad():
            module.emb.weight.mul_(0)
        for _ in range(2):
            made(numbers).sum().backward()
        assert made(numbers).tolist() == module(numbers).tolist()
        return made.code, str(made.graph), copy.deepcopy(made).code, [*made.state_dict()]

    same(program)


def test_layers_by_themselves() -> None:
    same(lambda package: [
        [(node.op, node.name) for node in package.fx.symbolic_trace(layer).graph.nodes]
        for layer in (package.nn.Linear(2, 2), package.nn.Sequential(package.nn.Linear(2, 2), package.nn.ReLU()))])


def test_the_place_of_new_nodes() -> None:
    def program(package: Any) -> Any:
        graph = package.fx.Graph()
        x = graph.placeholder("x")
        sine = graph.call_function(package.sin, (x,))
        with graph.inserting_after(sine):
            graph.call_function(package.cos, (sine,))
            graph.call_function(package.tan, (sine,))
        graph.output(sine)
        first = str(graph)
        graph.inserting_before(sine)
        graph.call_function(package.exp, (x,))
        with pytest.raises(AssertionError) as caught:
            graph.inserting_before(package.fx.Graph().placeholder("x"))
        return first, str(graph), str(caught.value)

    same(program)


def test_effects_stay() -> None:
    def asserted(package, x):
        package._assert(x.sum() > 0, "bad")
        return x

    def drawn(package, x):
        package.rand_like(x)
        package.bernoulli(x)
        package.nn.functional.dropout(x)
        return x

    def written(package, x):
        package.ops.aten.add_.Tensor(x, 1)
        package.ops.aten.add.Tensor(x, 1)
        return x

    def program(package: Any) -> Any:
        found = []
        for function in (asserted, drawn, written):
            made = package.fx.symbolic_trace(with_package(function, package))
            found.append((made.graph.eliminate_dead_code(), str(made.graph)))
        graph = package.fx.Graph()
        x = graph.placeholder("x")
        graph.call_function(operator.setitem, (x, 0, 9.0))
        graph.output(x)
        unused = package.fx.symbolic_trace(package.nn.Sequential(package.nn.ReLU()))
        unused.graph.output_node().args = (next(iter(unused.graph.nodes)),)
        return found, graph.eliminate_dead_code(), str(graph), unused.graph.eliminate_dead_code(), str(unused.graph)

    same(program)


SPECIAL: dict[str, Callable[[Any, Any], Any]] = {
    **{name: lambda f, x: f(x) for name in ("expit", "logit", "gammaln", "psi", "round", "erf", "digamma")},
    **{name: lambda f, x: f(x, x) for name in ("gammainc", "gammaincc", "xlogy")},
    "logsumexp": lambda f, x: f(x, 0), "multigammaln": lambda f, x: f(x, 1), "polygamma": lambda f, x: f(1, x)}


@pytest.mark.parametrize("name", SPECIAL)
def test_functions_of_torch_special(name: str) -> None:
    def program(package: Any) -> Any:
        made = package.fx.symbolic_trace(lambda x: SPECIAL[name](getattr(package.special, name), x))
        return [round(n, 4) for n in made(package.full((2,), 0.75)).flatten().tolist()]

    same(program)


def test_arguments_of_other_types() -> None:
    def program(package: Any) -> Any:
        def shown(value: Any) -> str:
            def function(x):
                return package.fx.Proxy.__torch_function__(first_of, (), (x, value(x)))
            return ended(lambda: str(package.fx.symbolic_trace(function).graph)).replace(
                "retrograd", "torch").replace("dispatch", "_ops")
        return [shown(value) for value in (
            lambda x: Color.RED, lambda x: Pair(x, 2), lambda x: Named(x, 2), lambda x: first_of, lambda x: int,
            lambda x: package.ops.aten.add.Tensor)]

    same(program)


def test_what_is_no_function_is_refused() -> None:
    def program(package: Any) -> Any:
        module = package.nn.Linear(2, 2)
        return [ended(lambda root=root: package.fx.symbolic_trace(root)) for root in (
            functools.partial(first_of, 1), module.forward)]

    same(program)


def test_values_of_arguments_by_their_names() -> None:
    def program(package: Any) -> Any:
        def function(a, b=1, c=2, d=None):
            return a + b + c

        made = package.fx.symbolic_trace(function, concrete_args={"c": 3, "d": None})
        wrong = ended(lambda: package.fx.symbolic_trace(function, concrete_args=(1, 2)))
        return made.code, made(package.ones(1), c_1=3).tolist(), wrong

    same(program)


def test_copies_and_annotations() -> None:
    def program(package: Any) -> Any:
        class Mine(package.fx.GraphModule):  # type: ignore[name-defined, misc]
            pass

        class Annotated(package.nn.Module):  # type: ignore[name-defined, misc]
            def forward(self, a, b, c, d=None):
                return a

        Annotated.forward.__annotations__.update(
            a=list[package.Tensor], b=typing.Optional[package.Tensor], c=dict[str, int], d=int | None,  # noqa: UP045
            **{"return": typing.List[package.Tensor]})  # noqa: UP006
        module = package.nn.Linear(2, 2)
        mine = copy.deepcopy(Mine(module, package.fx.Tracer().trace(module), "Mine"))
        return isinstance(mine, Mine), type(mine).__name__, package.fx.symbolic_trace(Annotated()).code

    assert same(program)[0]


def test_numbers_that_are_values() -> None:
    def program(package: Any) -> Any:
        class Net(package.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("table", package.ones(1, 3))

            def forward(self, x):
                places = package.arange(x.size(1)) + x
                noise = package.rand(x.size(0)).sum() + package.randn(x.size()).sum()
                noise = noise + package.randn(2, x.size(0)).sum()
                return places + noise + self.table.repeat(x.size(0), 1) + self.table.view(x.size(0), -1)

        return package.fx.symbolic_trace(Net()).code

    same(program)
