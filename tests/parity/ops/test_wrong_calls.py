"""Wrong calls of every everyday operator end as in PyTorch: with the same error, by type and whole message.

And after an error nothing has changed: no tensor that was given, nor how often it was written to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch

import retrograd
from comparing import everyday
from comparing.correct_calls import calls, lacking
from comparing.same_expression import said
from comparing.table_calls import table_calls
from comparing.wrong_calls import Call, function, maker, wrong_calls
from comparing.wrong_calls_accepted import ACCEPTED, VARYING, Ends

CALLS = calls()


def _state(tensors: list[Any]) -> list[Any]:
    return [(x._version, x.requires_grad, None if x.grad is None else 1, x.detach().numpy().tobytes()) for x in tensors]


def _end(library: Any, call: Call) -> str | None:
    """How a call ends; None where the arguments cannot be made."""
    space = maker(library, call.tensors)
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
        text = f"{type(error).__name__}: {said(error)}".replace(*_NO_DEVICE)
        return _SET.sub(lambda found: ", ".join(sorted(found[0].split(", "))), text)
    if not isinstance(found, library.Tensor):
        return f"ok {type(found).__name__}"
    return f"ok {found.dtype} of {tuple(found.shape)}".replace("retrograd", "torch")


# What a build of PyTorch for CUDA says of a device that is not there, and the build for the processor.
_NO_DEVICE = ("Found no NVIDIA driver on your system", "Cannot access accelerator device when none is available")
# The elements of a set of strings, whose order is that of Python's hashes.
_SET = re.compile(r"(?<=\{)'[^{}]*'(?=\})")
# How many of the messages of calls that both refuse are PyTorch's to the letter, at least. The table of what is
# accepted has a reason for each other one.
SHARE = 0.96
# The same for methods. Python has its own words for a recorded call with too many arguments, or none.
SHARE_OF_METHODS = 0.95


def _ends_of(correct: Call) -> list[Ends]:
    """How the wrong calls end that are made of this correct one."""
    found = []
    for call in wrong_calls(torch, correct):
        theirs = _end(torch, call)
        if theirs is not None:
            found.append(Ends(str(call), theirs, str(_end(retrograd, call))))
    return found


@cache
def _ends(correct: int) -> list[Ends]:
    """How the wrong calls end that are made of the correct one in this place."""
    return _ends_of(CALLS[correct])


def _methods() -> Iterator[Call]:
    """The calls of functions that are methods, too, as calls of the method."""
    for call in CALLS:
        name, arguments = call.name.removeprefix("torch."), ", ".join(call.arguments)
        args = eval(f"(lambda *a, **k: a)({arguments})", maker(torch, call.tensors))
        if callable(getattr(torch.Tensor, name, None)) and args and isinstance(args[0], torch.Tensor):
            yield call._replace(name=f"torch.Tensor.{name}")


def _different(correct: int) -> list[Ends]:
    """Those that end otherwise here."""
    return [ends for ends in _ends(correct) if ends.theirs != ends.ours]


def _reason(ends: Ends) -> str | None:
    """The first reason that accepts the difference."""
    return next((reason for reason, (_, rule) in ACCEPTED.items() if rule(ends)), None)


def test_every_everyday_operator_has_a_correct_call() -> None:
    assert {name for names in everyday.names().values() for name in names} <= {call.name for call in CALLS}


def test_no_line_repeats_a_call_of_the_table_of_operators() -> None:
    assert {call.name for call in lacking()} & {call.name for call in table_calls()} == {"torch.normal"}


# Of what both warn of deprecated names, resized outputs and the like, other tests compare the words.
quiet = pytest.mark.filterwarnings("ignore")


@quiet
@pytest.mark.parametrize("place", range(len(CALLS)), ids=[str(call) for call in CALLS])
def test_wrong_calls(place: int) -> None:
    correct = CALLS[place]
    theirs = _end(torch, correct)
    assert theirs == _end(retrograd, correct)
    assert str(theirs).startswith("ok")
    assert [ends for ends in _different(place) if _reason(ends) is None] == []


@quiet
def test_what_is_accepted_occurs_as_often_as_the_table_says() -> None:
    ends = [each for place in range(len(CALLS)) for each in _different(place)]
    found = Counter(_reason(each) for each in ends)
    exact = {reason: count for reason, (count, _) in ACCEPTED.items() if reason not in VARYING}
    assert {reason: count for reason, count in found.items() if reason not in VARYING} == exact
    assert {reason: found[reason] for reason in VARYING if not 0 < found[reason] <= ACCEPTED[reason][0] * 1.25} == {}


@quiet
def test_the_messages_are_pytorch_s_to_the_letter() -> None:
    refused = [ends for place in range(len(CALLS)) for ends in _ends(place) if ends.refused]
    same = sum(ends.theirs == ends.ours for ends in refused)
    assert len(refused) > 30_000
    assert same > SHARE * len(refused), f"{same} of {len(refused)}"


@quiet
def test_the_messages_of_methods_are_pytorch_s_to_the_letter() -> None:
    refused = [ends for call in _methods() for ends in _ends_of(call) if ends.refused]
    same = sum(ends.theirs == ends.ours for ends in refused)
    assert len(refused) > 8_000
    assert same > SHARE_OF_METHODS * len(refused), f"{same} of {len(refused)}"
