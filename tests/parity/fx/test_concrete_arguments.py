"""torch.fx: arguments that a trace takes as values, containers of arguments, and classes that a trace may make objects
of, end in PyTorch's graphs, Python, results and errors.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

import retrograd


def tried(call: Callable[[], Any]) -> Any:
    """What a call returns, as text, or its error."""
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__, str(error)


def seen(package: ModuleType, function: Any, concrete: Any, *calls: Any) -> list[Any]:
    """What a program sees of a trace, of calls of it, and of its copies."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            traced = package.fx.symbolic_trace(function, concrete_args=concrete)
        except Exception as error:
            return [type(error).__name__, str(error)]
        copied = copy.deepcopy(traced)
    told = [str(warning.message) for warning in given if "specialized" in str(warning.message)]
    marks = [getattr(node, "ph_key", None) for node in traced.graph.nodes]
    ways = [traced, copied, package.fx.Interpreter(traced).run]
    return [str(traced.graph), traced.code, told, marks, *[tried(lambda way=way, args=args: way(*args))
                                                           for way in ways for args in calls]]


def nested(x: Any, d: Any) -> Any:
    return {"r": x * d["a"] + d["b"], "s": [x]}


def starred(*a: Any) -> Any:
    return a[0] + a[1]


def one_and_starred(x: Any, *a: Any) -> Any:
    return x + a[0]


def named(x: Any, *, y: Any) -> Any:
    return x + y["a"]


def kinds(x: Any, mode: Any, n: Any, flag: Any, c: Any = 1, none: Any = None) -> Any:
    return x.sum() if mode == "sum" else x


def in_containers(x: Any, n: Any, flag: Any) -> Any:
    return x * n[0]


def default(x: Any, y: Any, k: int = 3) -> Any:
    return x + y[0] * k


def with_names(pytree: Any, fx_pytree: Any) -> Any:
    return pytree + fx_pytree


@pytest.fixture(autouse=True)
def _deprecated() -> Iterator[None]:
    """PyTorch warns about its own use of deprecated names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def module(package: ModuleType) -> Any:
    """A module that takes a list."""
    class Net(package.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, x, y):
            return x + y[0] * y[1], y

    return Net()


def starred_module(package: ModuleType) -> Any:
    class Net(package.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, *a):
            return a[0] + a[1]

    return Net()


def mark(package: ModuleType) -> Any:
    return package.fx._symbolic_trace.PHWithMeta("q")


CASES: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "dict": lambda t, PH: (nested, {"d": {"a": PH, "b": 2}}, (1, {"a": 3, "b": 2}), (1, {"a": 3, "b": 4}), (1,),
                           (1, {"a": 3}), (1, {"a": 3, "b": 2, "c": 1}), (1, [3, 2])),
    "whole": lambda t, PH: (nested, {"x": PH, "d": PH}, (1, {"a": 2, "b": 3})),
    "starred": lambda t, PH: (starred, (PH, PH)),
    "one and starred": lambda t, PH: (one_and_starred, (PH, PH)),
    "starred module": lambda t, PH: (starred_module(t), (PH, mark(t))),
    "by name": lambda t, PH: (named, {"y": {"a": PH}}, (1, {"a": 2})),
    "module": lambda t, PH: (module(t), {"y": [PH, PH]}, (1, [2, 3]), (1, [2])),
    "mark": lambda t, PH: (module(t), {"y": [mark(t), PH]}),
    "tuple": lambda t, PH: (module(t), (PH, [1, PH]), (1, [1, 3]), (1, [2, 3])),
    "empty": lambda t, PH: (module(t), {"y": []}),
    "too few": lambda t, PH: (module(t), (PH,)),
    "kinds": lambda t, PH: (kinds, {"mode": "sum", "n": 2, "flag": True, "c": 2j, "none": None}),
    "kinds in containers": lambda t, PH: (in_containers, {"n": (1, 2, {"a": None}), "flag": t.float32},
                                          (1, (1, 2, {"a": None}), t.float32)),
    "what has no comparison": lambda t, PH: (kinds, {"mode": "mean", "n": object, "flag": t.strided}),
    "default": lambda t, PH: (default, {"k": 5}, (1, [2]), (1, [2], 5)),
    "names": lambda t, PH: (with_names, None, (1, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_traces_with_values_for_arguments(name: str) -> None:
    expected, found = [seen(package, *CASES[name](package, package.fx.PH)) for package in (torch, retrograd)]
    assert found == expected


def test_a_program_with_containers_can_be_saved_and_changed() -> None:
    def all_of_it(package: Any) -> list[Any]:
        PH = package.fx.PH
        traced = package.fx.symbolic_trace(module(package), concrete_args={"y": [PH, PH]})
        read = pickle.loads(pickle.dumps(traced))
        changed = package.fx.Transformer(traced).transform()
        graph = traced.graph
        return [read.code, read(1, [2, 3]), changed.code, tried(lambda: changed(1, [2, 3])), str(PH),
                graph.process_inputs(1, [2, 3]), graph.process_outputs([1, 2, 3]),
                package.fx.Interpreter(traced).run(1, 2, 3, enable_io_processing=False)]

    assert all_of_it(retrograd) == all_of_it(torch)


def test_a_default_beside_a_container() -> None:
    """In PyTorch the default replaces what is given, or is no Python. The function has no default, as in PyTorch."""
    traced = retrograd.fx.symbolic_trace(default, concrete_args={"y": [retrograd.fx.PH]})
    assert traced(1, [2], 4) == 9
    assert "k : _int_; \n" in traced.code


def objects(package: Any) -> list[Any]:
    """What traces see of objects that a program makes."""
    class Pair(metaclass=package.fx.ProxyableClassMeta):
        def __init__(self, left: Any, right: Any) -> None:
            self.left, self.right = left, right

        def add(self, other: Any) -> Any:
            return Pair(self.left + other.left, self.right + other.right)

    before = Pair(1, 2)
    made = package.fx.symbolic_trace(lambda x, y: x.add(Pair(y, y)))
    held = package.fx.symbolic_trace(lambda x: x.add(before))
    plain = package.fx.symbolic_trace(lambda x: Pair(1, 2).left + x)
    results = [made(Pair(1, 2), 3), held(Pair(3, 4))]
    names = [node.name for node in held.graph.nodes], [node.target for node in held.graph.nodes][1:]
    return [made.code, held.code, plain.code, names, [(pair.left, pair.right) for pair in results]]


def test_objects_that_a_trace_makes() -> None:
    assert objects(retrograd) == objects(torch)


def test_tensors_of_a_program_are_named_in_turn() -> None:
    def names(package: Any) -> list[str]:
        held = package.ones(1)
        traced = package.fx.symbolic_trace(
            lambda x: package.add(package.add(x, package.zeros(1)), held) + package.ones(1) + held)
        return [str(traced.graph), *sorted(traced._buffers)]

    assert names(retrograd) == names(torch)


def test_annotations_that_are_texts() -> None:
    """This module's annotations are texts, since it imports `annotations` from `__future__`."""
    def function(x: Any, y: list[int], z: int | None = None) -> dict[str, Any]:
        return {"x": x + 1, "y": y}

    def seen_types(package: ModuleType) -> list[Any]:
        texts = package.fx.symbolic_trace(function)
        function.__annotations__ = {"x": package.Tensor, "y": list[float], "z": int, "return": Any}
        try:
            types = package.fx.symbolic_trace(function)
        finally:
            function.__annotations__ = annotations
        return [str(texts.graph), texts.code, texts(1, 2), str(types.graph), types.code, types(1, 2)]

    annotations = function.__annotations__
    assert seen_types(retrograd) == seen_types(torch)


@pytest.mark.parametrize("key", ["val", "tensor_meta", "example_value"])
def test_what_a_node_says_of_its_tensor(key: str) -> None:
    values: list[Callable[[Any], Any]] = [
        lambda t: t.ones(2, 3), lambda t: t.ones(3, 2, dtype=t.bfloat16).t(), lambda t: t.tensor(True), lambda t: 3,
        lambda t: t.ones(0, dtype=t.complex64), lambda t: t.ones(1, dtype=t.uint8), lambda t: t.ones(2, 2).to_sparse(),
        lambda t: t.ones(1).to(t.float8_e4m3fn)]

    def lines(package: Any) -> list[str]:
        found = []
        for value in values:
            for node in package.fx.symbolic_trace(lambda x: x + 1).graph.nodes:
                node.meta[key] = value(package)
                found += [node.format_node(include_tensor_metadata=True), node.format_node()]
        return found

    assert lines(retrograd) == lines(torch)
