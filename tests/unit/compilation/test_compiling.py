"""Programs that compile run as they are: torch.compile, and the module that it makes of a module."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import retrograd as torch
from retrograd.foundations.errors import Said


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins as a new process. What runs as it is may say so."""
    monkeypatch.setattr(Said, "messages", set())
    monkeypatch.setattr(Said, "always", False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.compile runs .* as it is")
        yield


def doubled(x: Any) -> Any:
    """Twice the argument."""
    return x * 2


def test_what_is_compiled_says_nothing() -> None:
    with warnings.catch_warnings(action="error"):
        assert torch.compile(doubled)(torch.ones(1)).item() == 2
        torch.nn.ReLU().compile()


def test_functions_and_decorators() -> None:
    with_options = torch.compile(mode="max-autotune", fullgraph=True, dynamic=False)(doubled)
    for compiled in (torch.compile(doubled), with_options, torch.compile(with_options, backend=lambda graph, _: graph)):
        assert compiled is not doubled
        assert (compiled.__name__, compiled.__doc__) == ("doubled", "Twice the argument.")
        assert compiled._torchdynamo_orig_callable is doubled
        x = torch.ones(2, requires_grad=True)
        compiled(x).sum().backward()
        assert x.grad.tolist() == [2, 2]
    assert torch.compile(doubled, disable=True) is doubled


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"mode": "default", "options": {"a": 1}}, RuntimeError,
         "^Either mode or options can be specified, but both can't be specified at the same time"),
        ({"mode": "quick"}, RuntimeError, "^Unrecognized mode=quick, should be one of: default, lite, reduce-overhead, "
         "max-autotune-no-cudagraphs, max-autotune$"),
        ({"backend": "quick"}, RuntimeError, r"^Invalid backend: 'quick', see `torch\._dynamo\.list_backends\(\)`"),
        ({"dynamic": 3}, AssertionError, "^Expected enable to be a bool, got <class 'int'>$"),
        ({"quick": True}, TypeError, r"^compile\(\) got an unexpected keyword argument 'quick'$"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        torch.compile(doubled, **options)
    if error is not TypeError:
        with pytest.raises(error, match=message):
            torch.nn.ReLU().compile(**options)


def test_only_what_can_be_called_is_compiled() -> None:
    with pytest.raises(AssertionError, match="^A callable function is expected, but <class 'int'> is provided"):
        torch.compile(3)
    with pytest.raises(RuntimeError, match="^Model can't be None$"):
        torch.compile()(None)


def test_the_module_of_a_module() -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout())
    outer = torch.compile(inner)
    assert repr(outer).startswith("OptimizedModule(\n  (_orig_mod): Sequential(\n    (0): Linear(")
    assert [*outer.state_dict()] == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert outer.eval() is outer
    assert (inner.training, inner[1].training, outer.training) == (False, False, False)
    assert outer(torch.ones(3, 2)).tolist() == inner(torch.ones(3, 2)).tolist()
    outer.rate = 3
    assert (inner.rate, outer.rate, "rate" in dir(outer), len(outer)) == (3, 3, True, 2)
    del outer.rate
    assert not hasattr(inner, "rate")
    outer.load_state_dict({name: value * 0 for name, value in outer.state_dict().items()})
    assert inner[0].weight.tolist() == [[0, 0]]
    for copied in (copy.deepcopy(outer), pickle.loads(pickle.dumps(outer))):
        assert isinstance(copied, type(outer))
        assert [*copied.state_dict()] == [*outer.state_dict()]
        assert copied._orig_mod is not inner
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'nothing'"):
        _ = outer.nothing
    with pytest.raises(TypeError, match=r"^ReLU does not support len\(\)$"):
        len(torch.compile(torch.nn.ReLU()))


def test_hooks_of_the_inner_module_are_called_once() -> None:
    inner, seen = torch.nn.ReLU(), []
    inner.register_forward_hook(lambda module, inputs, output: seen.append(module))
    torch.compile(inner)(torch.ones(1))
    inner.compile(mode="reduce-overhead")
    inner(torch.ones(1))
    assert seen == [inner, inner]
