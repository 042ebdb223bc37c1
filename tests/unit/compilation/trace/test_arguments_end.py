"""The tensors of a call end with the program's last reference, whatever becomes of its trace. No collection is needed.
"""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils.checkpoint import checkpoint

weight = torch.ones(3, requires_grad=True)


def refuses(x: Any) -> Any:
    raise ValueError("no")


def returns(x: Any) -> Any:
    return (x * weight).sin() + 1


def raises_after_a_line(x: Any) -> Any:
    (x * weight).sin()
    raise ValueError("no")


def raises_in_a_mode(x: Any) -> Any:
    with torch.no_grad():
        return raises_after_a_line(x)


def raises_in_a_checkpoint(x: Any) -> Any:
    return checkpoint(raises_after_a_line, x, use_reentrant=False)


def raises_in_a_reentrant_checkpoint(x: Any) -> Any:
    return checkpoint(raises_after_a_line, x, use_reentrant=True)


def raises_in_backward(x: Any) -> Any:
    y = x * weight
    y.backward()


def raises_while_it_handles(x: Any) -> Any:
    try:
        refuses(x)
    except ValueError:
        raise KeyError("no") from None


def looks(x: Any) -> Any:
    return x * float(x.detach().sum())


def looks_and_raises(x: Any) -> Any:
    float(x.detach().sum())
    refuses(x)


def is_refused(x: Any) -> Any:
    return x * len(held)


held = bytearray(3)
FUNCTIONS = [returns, refuses, raises_after_a_line, raises_in_a_mode, raises_in_a_checkpoint,
             raises_in_a_reentrant_checkpoint, raises_in_backward,
             raises_while_it_handles, looks, looks_and_raises, is_refused]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("in_a_list", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments_end(function: Callable[[Any], Any], in_a_list: bool, whole: bool) -> None:
    if in_a_list and function is returns:                  # then the guard knows the tensor of the list
        return
    found = list[bool]()
    batches = [torch.ones(2)]

    def listed(x: Any) -> Any:
        return function(batches[0])

    compiled = torch.compile(listed if in_a_list else function, backend="numpy", fullgraph=whole)
    gc.collect()
    gc.disable()
    try:
        for size in (3, 3, 1, 3):
            x = torch.arange(1.0, size + 1, requires_grad=not in_a_list)
            if in_a_list:
                batches[0] = x
            reference = weakref.ref(x)
            with warnings.catch_warnings(), suppress(ValueError, KeyError, TypeError, RuntimeError):
                warnings.simplefilter("ignore")
                compiled(x)
            del x
            batches[0] = torch.ones(2)
            found.append(reference() is None)
    finally:
        gc.enable()
    assert found == [True] * 4
