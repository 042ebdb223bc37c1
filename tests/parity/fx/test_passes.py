"""torch.fx.passes: what the passes note at nodes, the modules that they make, and their errors, are PyTorch's."""

from __future__ import annotations

import collections
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import torch

import retrograd
from parity.fx.test_traced_programs import network, seen


def a_pass(package: Any, name: str) -> Any:
    return import_module(f"{package.__name__}.fx.passes.{name}")


def noted(module: Any) -> list[str]:
    """What a pass has noted at the nodes of a module."""
    def text(value: Any) -> str:
        if isinstance(value, type):
            return value.__name__
        if hasattr(value, "stride") and callable(value.stride):
            return f"{tuple(value.shape)} {value.stride()} {value.dtype} {value.requires_grad} {value.device}"
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return str([*map(text, value)])
        return str(value)

    return [f"{node.name}: " + ", ".join([f"{key}={text(value)}" for key, value in node.meta.items()
                                          if key in ("tensor_meta", "type", "val")]) for node in module.graph.nodes]


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], tuple[Any, ...]]]] = {
    "module": (network, lambda t: (t.ones(3, 3),)),
    "strides": (lambda t: lambda x: (x.t(), x.unfold(0, 2, 1), x[::2], x.sum().item(), x.sum(0).requires_grad_()),
                lambda t: (t.ones(3, 4),)),
    "formats": (lambda t: lambda x: (x.to(memory_format=t.channels_last), x.permute(0, 2, 3, 1), x[..., 0], x[:1]),
                lambda t: (t.ones(2, 3, 4, 5),)),
    "five dims": (lambda t: lambda x: x.to(memory_format=t.channels_last_3d), lambda t: (t.ones(2, 3, 4, 5, 6),)),
    "nested": (lambda t: lambda x, y: ({"a": [x, y + 1]}, x.max(0), x.shape), lambda t: (t.ones(3, 4), 2)),
    "sparse": (lambda t: lambda x: (x.to_sparse(), 2), lambda t: (t.eye(3),)),
    "numbers": (lambda t: lambda x, y: x * y + 1, lambda t: (3, 4.0))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes(name: str) -> None:
    def program(package: Any) -> list[str]:
        make, arguments = PROGRAMS[name]
        module = package.fx.symbolic_trace(make(package))
        a_pass(package, "shape_prop").ShapeProp(module).propagate(*arguments(package))
        return noted(module)

    assert program(retrograd) == program(torch)


@pytest.mark.parametrize("entered", [True, False])
def test_shapes_of_fake_tensors(entered: bool) -> None:
    def program(package: Any) -> list[str]:
        mode = import_module(f"{package.__name__}._subclasses.fake_tensor").FakeTensorMode(
            allow_non_fake_inputs=entered)
        shapes, module = a_pass(package, "shape_prop").ShapeProp, package.fx.symbolic_trace(network(package))
        if entered:
            with mode:
                shapes(module).propagate(package.empty(5, 3))
        else:
            result = shapes(module, mode).propagate(package.ones(5, 3))
            assert type(result[1]).__name__ == "FakeTensor"
        assert type(module.lin.weight).__name__ == "Parameter"
        assert module.lin.weight.detach().flatten()[0].item() != 0
        return noted(module)

    assert program(retrograd) == program(torch)


def test_fake_tensors_at_nodes() -> None:
    def program(package: Any) -> list[str]:
        module = package.fx.symbolic_trace(lambda x, y: ((x @ x.t()).relu_().max(0), x.shape[0] + y, None))
        a_pass(package, "fake_tensor_prop").FakeTensorProp(module).propagate(package.ones(2, 3), 4)
        return noted(module)

    assert program(retrograd) == program(torch)


def test_errors(capfd: pytest.CaptureFixture[str]) -> None:
    """An error names the node that was run. Later errors of nodes around it are kept as causes."""
    def program(package: Any) -> list[str]:
        said = []
        wrong = package.fx.symbolic_trace(lambda x, y: (x @ y).relu())
        missing = package.fx.symbolic_trace(lambda x: x["a"])
        x = package.ones(2, 3)
        for run in (lambda: a_pass(package, "shape_prop").ShapeProp(wrong).propagate(x, x),
                    lambda: package.fx.Interpreter(wrong).run(x, x), lambda: package.fx.Interpreter(wrong).run(x),
                    lambda: package.fx.Interpreter(missing).run({}),
                    lambda: package.fx.Interpreter(wrong).boxed_run([x]),
                    lambda: package.fx.Interpreter(wrong).boxed_run([x, x, x])):
            with pytest.raises(RuntimeError) as caught:
                run()
            said += [str(caught.value), str(caught.value.__cause__)]
        assert "cannot be multiplied" in capfd.readouterr().err
        given = [x, package.ones(3)]
        return [*said, package.fx.Interpreter(wrong).boxed_run(given).tolist(), str(given)]

    assert program(retrograd) == program(torch)


class Parts:
    """Names the part of each node: as many parts as `count`, in turns or in a row."""

    def __init__(self, count: int, turns: bool) -> None:
        self.count, self.turns, self.seen = count, turns, collections.Counter[str]()

    def __call__(self, node: Any) -> int:
        self.seen.setdefault(node.name, len(self.seen))
        return self.seen[node.name] % self.count if self.turns else self.seen[node.name] // self.count


def two_paths(package: Any) -> Any:
    """A module with two paths, whose nodes may be dealt out in turns."""
    class Net(package.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.param = package.nn.Parameter(package.ones(3, 4))
            self.inner = package.nn.Sequential(package.nn.Linear(4, 5))

        def forward(self, x, y=None):
            z = self.inner(x + self.param).clamp(min=0.0, max=1.0)
            w = self.inner(y).clamp(min=0.0, max=1.0)
            return z + w, x, self.param

    package.manual_seed(0)
    return Net()


OPTIONS: list[dict[str, Any]] = [
    {}, {"keep_original_order": True}, {"keep_original_node_name": True}, {"keep_original_input_name": False},
    {"partition_affix": "pp"}, {"tuple_return": True}, {"keep_original_order": True, "tuple_return": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("parts", [(3, True), (2, False), (3, False), (100, False)])
def test_parts(parts: tuple[int, bool], options: dict[str, Any]) -> None:
    def program(package: Any) -> list[Any]:
        module = package.fx.symbolic_trace(two_paths(package))
        paths: dict[str, str] = {}
        try:
            made = a_pass(package, "split_module").split_module(module, module, Parts(*parts), paths, **options)
        except Exception as error:
            return [type(error).__name__, str(error)]
        x, y = package.ones(3, 4), package.full((3, 4), -2.0)
        assert [each.tolist() for each in made(x, y)] == [each.tolist() for each in module(x, y)]
        inside = [seen(child) for name, child in made.named_children() if name.startswith("submod")]
        return [*seen(made), *inside, paths, sorted(made.meta["partition_names"]), [*made.state_dict()]]

    assert program(retrograd) == program(torch)


def test_parts_that_need_each_other_and_modules_as_values() -> None:
    def program(package: Any) -> list[Any]:
        split = a_pass(package, "split_module").split_module
        module = package.fx.symbolic_trace(lambda x: x.sin().cos().tan())
        with pytest.raises(RuntimeError) as caught:
            split(module, module, lambda node: int(node.name == "cos"))
        graph = package.fx.Graph()
        x, inner = graph.placeholder("x"), graph.get_attr("inner")
        graph.output((graph.call_function(package.utils.checkpoint.checkpoint, (inner, x)), x))
        whole = package.fx.GraphModule(two_paths(package), graph)
        empty = package.fx.symbolic_trace(lambda x: x)
        return [str(caught.value), seen(split(whole, whole, lambda node: 0)), seen(split(empty, empty, lambda node: 0))]

    assert program(retrograd) == program(torch)


def test_the_text_of_a_part() -> None:
    assert repr(a_pass(retrograd, "split_module").Partition("a")) == repr(a_pass(torch, "split_module").Partition("a"))
