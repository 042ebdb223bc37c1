"""Wrong calls of every everyday operator end as in PyTorch: with the same error, by type and first sentence.

And after an error nothing has changed: no tensor that was given, nor how often it was written to.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
import torch

import retrograd
from comparing.correct_calls import calls, uncalled
from comparing.wrong_calls import Call, function, maker, wrong_calls
from comparing.wrong_calls_accepted import ACCEPTED, Ends


def _state(tensors: list[Any]) -> list[Any]:
    return [(x._version, x.requires_grad, None if x.grad is None else 1, x.detach().numpy().tobytes()) for x in tensors]


def _end(library: Any, call: Call) -> str | None:
    """How a call ends; None where the arguments cannot be made."""
    space = maker(library)
    library.manual_seed(0)
    try:
        args, kwargs = eval(f"(lambda *a, **k: (a, k))({', '.join(call.arguments)})", space)
    except Exception:
        return None
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, retrograd.Tensor)]
    before = _state(tensors)
    try:
        found = function(library, call.name)(*args, **kwargs)
    except Exception as error:
        assert _state(tensors) == before, f"{call} has changed what it was given"
        said = re.split(r"[.:](?:\s|$)|; |\n", str(error))[0].replace("retrograd", "torch")
        return f"{type(error).__name__}: {said}"
    if not isinstance(found, library.Tensor):
        return f"ok {type(found).__name__}"
    return f"ok {found.dtype} of {tuple(found.shape)}".replace("retrograd", "torch")


@cache
def _different(name: str, arguments: str) -> list[Ends]:
    """The wrong calls made of this one that end otherwise here."""
    found = []
    for call in wrong_calls(torch, name, arguments):
        theirs = _end(torch, call)
        ours = _end(retrograd, call) if theirs is not None else None
        if theirs != ours:
            found.append(Ends(str(call), str(theirs), str(ours)))
    return found


def test_every_everyday_operator_has_a_correct_call() -> None:
    assert not uncalled()


# Of what both warn of deprecated names, resized outputs and the like, other tests compare the words.
quiet = pytest.mark.filterwarnings("ignore")


@quiet
@pytest.mark.parametrize(("name", "arguments"), calls())
def test_wrong_calls(name: str, arguments: str) -> None:
    correct = Call(name, (arguments,))
    theirs = _end(torch, correct)
    assert theirs == _end(retrograd, correct)
    assert str(theirs).startswith("ok")
    assert [ends for ends in _different(name, arguments) if not any(rule(ends) for rule in ACCEPTED.values())] == []


@quiet
def test_what_is_accepted_occurs() -> None:
    ends = [each for name, arguments in calls() for each in _different(name, arguments)]
    assert [reason for reason, rule in ACCEPTED.items() if not any(map(rule, ends))] == []
