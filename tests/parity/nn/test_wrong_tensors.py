"""What stands in the place of a tensor and is no tensor, for each argument of all of `nn`: PyTorch's type and sentence.

Every function of `nn.functional` and every module is called with each of WRONG in the place of each tensor in turn.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import retrograd
from comparing.module_calls import modules
from comparing.nn_calls import functions
from comparing.wrong_calls import Call, function, maker

FUNCTIONS = functions()
WRONG: dict[str, Callable[[Any], Any]] = {
    "[1., 2.]": lambda tensor: [1.0, 2.0], "an ndarray": lambda tensor: np.ones(tuple(tensor.shape), np.float32),
    "a small ndarray": lambda tensor: np.ones((2, 3)), "None": lambda tensor: None, "'x'": lambda tensor: "x",
    "3": lambda tensor: 3}


class Ends(NamedTuple):
    """A call, what stood in the place of a tensor, and how the call ended in PyTorch and here."""

    name: str
    argument: str
    wrong: str
    theirs: str
    ours: str


def _arguments(library: Any, call: Call) -> tuple[list[Any], dict[str, Any]]:
    library.manual_seed(0)
    text = f"(lambda *a, **k: ([*a], k))({', '.join(call.arguments)})"
    return eval(text, maker(library, call.tensors))  # type: ignore[no-any-return]


def _end(call: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call(*args, **kwargs)
        except Exception as error:
            said = re.split(r"\.(?:\s|$)|(?<!\)):(?:\s|$)|; |\n", str(error))[0].replace("retrograd", "torch")
            return f"{type(error).__name__}: {said}"
    return f"ok {type(found).__name__}"


def _ends(call: Call, made: Callable[[Any], Callable[..., Any]]) -> list[Ends]:
    """How every wrong call ends that is made of this correct one."""
    args, kwargs = _arguments(torch, call)
    assert _end(made(torch), args, kwargs) == _end(made(retrograd), *_arguments(retrograd, call))
    found = []
    for place, value in (*enumerate(args), *kwargs.items()):
        if not isinstance(value, torch.Tensor):
            continue
        for wrong, make in WRONG.items():
            ends = []
            for library in (torch, retrograd):
                given, named = _arguments(library, call)
                if isinstance(place, int):
                    given[place] = make(value)
                else:
                    named[place] = make(value)
                ends.append(_end(made(library), given, named))
            found.append(Ends(call.name, str(place), wrong, *ends))
    return found


@cache
def of_function(place: int) -> list[Ends]:
    call = FUNCTIONS[place]
    return _ends(call, lambda library: function(library, call.name))


@cache
def of_module(name: str, made_with: str, text: str) -> list[Ends]:
    def made(library: Any) -> Any:
        library.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                 # one of the classes warns that its name is old
            return eval(f"torch.nn.{name}({made_with})", maker(library))

    return _ends(Call(name, (text,)), made)


def _asked_for(end: str) -> str:
    """What was asked for, if a call ended because a value has no such attribute, and tensors have it; else ''."""
    name = end.rpartition(" has no attribute ")[2].strip("'")
    return name if end.startswith("AttributeError") and hasattr(torch.Tensor, name) and name[0] != "_" else ""


# Where a call need not end as in PyTorch; a rule that accepts nothing is taken out.
ACCEPTED: dict[str, Callable[[Ends], bool]] = {
    "PyTorch's function is Python: it asks for an attribute, or calls one of NumPy's, before it knows the type":
        lambda e: (_asked_for(e.theirs) != "" or e.theirs.endswith("object is not callable"))
        and e.ours.startswith("TypeError") and " must be Tensor, not " in e.ours,
    "PyTorch asks keys and values whether they are nested tensors, which there are none of here":
        lambda e: _asked_for(e.theirs) == "is_nested" and _asked_for(e.ours) == "dim",
    "Beside a tensor an ndarray stands for a tensor, and it is a tensor's sentence that says which sizes do not fit":
        lambda e: "ndarray" in e.wrong and "operand" in e.theirs
        and re.search("gaussian_|multilabel_soft_|Gaussian|MultiLabelSoft", e.name) is not None,
}


def _unlike(ends: list[Ends]) -> list[Ends]:
    return [e for e in ends if e.theirs != e.ours and not any(rule(e) for rule in ACCEPTED.values())]


@pytest.mark.parametrize("place", range(len(FUNCTIONS)), ids=[str(call) for call in FUNCTIONS])
def test_functions(place: int) -> None:
    assert _unlike(of_function(place)) == []


@pytest.mark.parametrize(("name", "made_with", "text"), modules())
def test_modules(name: str, made_with: str, text: str) -> None:
    assert _unlike(of_module(name, made_with, text)) == []


def _all() -> list[Ends]:
    return [ends for place in range(len(FUNCTIONS)) for ends in of_function(place)] + [
        ends for call in modules() for ends in of_module(*call)]


def test_what_is_accepted_occurs() -> None:
    ends = [e for e in _all() if e.theirs != e.ours]
    assert [reason for reason, rule in ACCEPTED.items() if not any(map(rule, ends))] == []


def test_no_error_names_what_is_internal() -> None:
    assert [e for e in _all() if re.search(r"'_\w+'", e.ours)] == []


# A tool of PyTorch's own functions, and a function whose arguments PyTorch checks by the alignment of their memory.
TOOLS = {"assert_int_or_pair", "grouped_mm"}


def test_every_function_and_every_module_is_called() -> None:
    functions = {name for name in retrograd.nn.functional.__all__
                 if inspect.isfunction(getattr(retrograd.nn.functional, name))}
    assert functions - TOOLS == {call.name.rpartition(".")[2] for call in FUNCTIONS}
    classes = {name: getattr(retrograd.nn, name) for name in retrograd.nn.__all__}
    called = {name for name, *_ in modules()}
    assert {name for name, kind in classes.items() if isinstance(kind, type) and issubclass(kind, retrograd.nn.Module)
            and kind.forward is not retrograd.nn.Module.forward} == called
