"""What a traced run may call: each function in C and each type with its reason, called twice where this can be tried.

A thing that the trace lets pass gives equal results for equal arguments, and leaves the state of the process as it was.
"""

from __future__ import annotations

import builtins
import copy
import decimal
import importlib
import io
import itertools
import locale
import os
import pickle
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.program import constants
from retrograd.compilation.reach import kinds, known
from retrograd.compilation.reach.judging import unknown

REASONS = {known.ALONE, known.MAKES, known.CALLS, known.LOOKS, known.CHANGES, known.IMPORTS, known.DEFINES,
           known._ITSELF, known._PARTS}
# Arguments for functions that a test knows nothing of. Each call gets copies of them.
ARGUMENTS: list[tuple[Any, ...]] = [
    (), (2.5,), (3,), (3, 2), (2.5, 0.5), ("ab",), ("ab", "b"), ([3, 1, 2],), ([1.0, 2.0], 1), ([1, 2], [3, 4]),
    ([3, 1, 2], 0, 5), (max, [3, 1]), (np.arange(4.0),), (np.arange(4.0), np.ones(4)), (np.eye(3),), (np.arange(4), 2),
    (np.array([True, False]),), ({"a": 1},), (b"ab",), (int,), ("a+", "aab"), (str.upper,), ([(1, 2)],), ("a", 1)]
# What is not called here: NumPy's own tests, and what makes arrays whose numbers nobody has written.
NOT_CALLED = {"numpy.test", "numpy.empty", "numpy.empty_like", "numpy.ndarray"}


def library() -> Iterator[tuple[str, str, Any]]:
    """The functions and types in the modules of the tables."""
    for name in sorted({*known.C_MODULES, *known.LIBRARY_MODULES}):
        try:
            module = importlib.import_module(name)
        except ImportError:                                  # a module of another version of Python
            continue
        for part, thing in sorted(vars(module).items()):
            if callable(thing) and not part.startswith("_") and getattr(thing, "__module__", name) == name:
                yield name, part, thing


def numpys() -> Iterator[tuple[str, str, Any]]:
    for name, thing in sorted(vars(np).items()):
        if callable(thing) and not name.startswith("_") and not isinstance(thing, types.ModuleType):
            yield "numpy", name, thing


def of_builtins() -> Iterator[tuple[str, str, Any]]:
    for name in known.BUILTINS:
        if not name.startswith("_") and callable(getattr(builtins, name)):
            yield "builtins", name, getattr(builtins, name)


ALLOWED = {f"{module}.{name}": thing for module, name, thing in itertools.chain(library(), numpys(), of_builtins())
           if not unknown(thing)}


def state() -> list[Any]:
    """What calls might have changed in the process."""
    return [dict(os.environ), os.getcwd(), random.getstate(), repr(np.random.get_state()), np.geterr(),
            np.get_printoptions(), repr(decimal.getcontext()), locale.setlocale(locale.LC_ALL), sys.getrecursionlimit(),
            [*sys.path], warnings.filters[:], torch.get_rng_state().tolist(), torch.is_grad_enabled(),
            [*vars(builtins)], sys.stdout]


def called(thing: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a call gives, and what it leaves of its arguments, as bytes or text."""
    given = copy.deepcopy(arguments)
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            result = thing(*given)
            if isinstance(result, Iterator):
                result = [*itertools.islice(result, 20)]
    except Exception as error:
        return type(error)
    try:
        return pickle.dumps((result, given))
    except Exception:
        return type(result), repr(given)


def test_the_tables_are_of_things_with_reasons() -> None:
    tables: list[dict[Any, str]] = [known.BUILTINS, known.PURE, known.C_MODULES, known.OWN_STATE, known.MADE,
                                    {name: reason for name, (reason, _) in known.LIBRARY_MODULES.items()}]
    for table in tables:
        for thing, reason in table.items():
            assert reason in REASONS, thing
    for kinds_table in (constants.NUMBERS, constants.SINGLETONS, kinds.CLOSED, kinds.CLOSED_MODULES, kinds.NAMESPACES):
        for kind, reason in kinds_table.items():
            assert len(reason.split()) > 3, kind


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", sorted(ALLOWED.keys() - NOT_CALLED))
def test_equal_calls_give_equal_results_and_change_nothing_else(name: str) -> None:
    before = state()
    with redirect_stdout(io.StringIO()) as said:
        differing = [arguments for arguments in ARGUMENTS
                     if called(ALLOWED[name], arguments) != called(ALLOWED[name], arguments)]
    assert not differing
    assert not said.getvalue()
    after = state()
    assert [one == other for one, other in zip(before, after, strict=True)] == [True] * len(before)
