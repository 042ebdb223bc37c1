"""Running programs with hidden state (`hidden_programs`), as they are and compiled, and comparing all that shows."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import decimal
import functools
import gc
import io
import locale
import logging
import os
import platform
import random
import re
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import retrograd as torch
from programs.hidden_programs import Author

NAME = "hidden_program"
HEAD: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "functools": functools,
                        "contextlib": contextlib, "__builtins__": builtins}
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_FOLDER = os.getcwd()


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Have the state of the process be as it was, after a program."""
    environment, threads, recursion = dict(os.environ), torch.get_num_threads(), sys.getrecursionlimit()
    printing, context, path = np.get_printoptions(), decimal.getcontext().copy(), [*sys.path]
    level, handler, errors = logging.root.level, signal.getsignal(signal.SIGUSR1), np.geterr()
    where, modules, buffer = locale.setlocale(locale.LC_ALL), {*sys.modules}, np.getbufsize()
    names = [(vars(module), {**vars(module)}) for module in (builtins, sys, platform, np, torch)]
    try:
        yield
    finally:
        os.chdir(_FOLDER)
        os.environ.clear()
        os.environ.update(environment)
        torch.set_num_threads(threads)
        sys.setrecursionlimit(recursion)
        np.set_printoptions(**printing)
        np.seterr(**errors)
        decimal.setcontext(context)
        sys.path[:] = path
        np.setbufsize(buffer)
        for present, former in names:
            present.update(former)
            for name in [name for name in present if "by_the_test" in name]:
                del present[name]
        logging.root.setLevel(level)
        signal.signal(signal.SIGUSR1, handler)
        locale.setlocale(locale.LC_ALL, where)
        gc.enable()
        threading.current_thread().name = "MainThread"
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("hidden")]:
            del logging.root.manager.loggerDict[name]
        _torch_as_before()
        for name in {*sys.modules} - modules:
            if name.startswith("hidden_"):
                del sys.modules[name]


def _torch_as_before() -> None:
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.use_deterministic_algorithms(False)
    torch.set_printoptions(profile="default")
    torch.set_default_device("cpu")
    torch.autograd.set_detect_anomaly(False)
    torch.set_autocast_enabled("cpu", False)
    for hooks in ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks",
                  "_global_backward_pre_hooks"):
        getattr(torch.nn.modules.module, hooks).clear()


class World:
    """A program, run with or without `torch.compile`."""

    def __init__(self, author: Author, code: types.CodeType, change: Callable[[Any], Any]) -> None:
        for seed in (torch.manual_seed, random.seed, np.random.seed):
            seed(0)
        module = types.ModuleType(NAME)
        sys.modules[NAME] = module
        vars(module).update(HEAD)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                  # such as NumPy's about its matrices
            exec(code, vars(module))
            made = vars(module)["make"]() if author.scope == "nonlocal" else vars(module)
        self.author, self.made = author, made
        self.plain = [made[f"step{f}"] for f in range(len(author.hosts))]
        self.functions = [change(function) for function in self.plain]

    def call(self, number: int) -> list[Any]:
        """Make one call, and look at everything."""
        author, made, call = self.author, self.made, self.author.calls[number]
        said, printed = list[str](), io.StringIO()
        with warnings.catch_warnings(record=True) as found, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            for n in call.changes:
                try:
                    made[f"change{n}"](number)
                except Exception as error:                   # which depends on the state, too
                    print(type(error).__name__, error)
            x, y, kw = eval(author.kind, {"torch": torch, "size": call.size}), None, dict[str, Any]()
            for n in range(len(author.pieces)):
                try:
                    x, y, kw = made[f"given{n}"](x, number, y, kw)
                except Exception as error:                   # such as a hook on an argument that another piece replaced
                    print(type(error).__name__, error)
            result = self._called(call.function, x, y, kw, call.backward)
        said = [f"{each.category.__name__}: {each.message}" for each in found
                if not str(each.message).startswith(("torch.compile runs", "torch.compile traces"))]
        left = [self._left(n) for n in range(len(author.pieces))]
        modules = [function for function in self.plain if isinstance(function, torch.nn.Module)]
        return [*shown(result), *shown([x, y]), *shown(left), *shown([[*m.parameters()] for m in modules]),
                said, printed.getvalue(), torch.is_grad_enabled(), torch.get_default_dtype(),
                torch.get_rng_state().tolist()[:2500:99]]

    def _left(self, n: int) -> Any:
        try:
            return self.made[f"left{n}"]()
        except Exception as error:                           # of what the program has not made yet
            return type(error).__name__, _ADDRESS.sub("", str(error))

    def _called(self, function: int, x: Any, y: Any, kw: dict[str, Any], backward: bool) -> Any:
        try:
            result = self.functions[function](x, **kw) if y is None else self.functions[function](x, y, **kw)
            if backward and isinstance(result, torch.Tensor) and result.requires_grad:
                result.sum().backward()
            return result, result is x
        except Exception as error:
            return type(error).__name__, _ADDRESS.sub("", str(error))

    def _runs(self) -> list[Any]:
        """What runs the calls of the compiled functions."""
        found = []
        for function in self.functions:
            inner = vars(function).get("_compiled", function)                  # of a module
            cells = [cell.cell_contents for cell in getattr(inner, "__closure__", None) or ()]
            found.append(next(part for part in (inner, *cells) if hasattr(part, "run")).run)
        return found

    def reasons(self) -> list[str]:
        """Why functions run as they are."""
        return [str(run.reason) for run in self._runs() if getattr(run, "reason", None) is not None]

    def traces(self) -> int:
        """How many traced calls the functions can repeat."""
        return sum([len(getattr(run, "entries", ())) for run in self._runs()])


def shown(value: Any, depth: int = 0) -> list[Any]:
    """All that shows of a value, flat."""
    if isinstance(value, torch.Tensor):
        numbers = value.detach().to_dense() if value.is_sparse else value.detach()
        if numbers.device.type == "meta":
            return [type(value).__name__, "meta", value.dtype, tuple(value.shape)]
        numbers = numbers.float() if numbers.dtype == torch.bfloat16 else numbers
        history = () if depth > 3 or not value.is_leaf or value.grad is None else (*shown(value.grad, 9),)
        extra = [shown(part, depth + 1) for part in vars(value).items()] if depth < 4 else []
        return [type(value).__name__, value.dtype, tuple(value.shape), value.stride(), value.requires_grad,
                value.is_leaf, value.is_inference(), np.array(numbers.numpy()), *history, *extra]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, Mapping):
        return [type(value).__name__, *[part for item in value.items() for part in shown(item, depth + 1)]]
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [type(value).__name__, len(value), *[part for each in parts for part in shown(each, depth + 1)]]
    return [type(value).__name__, value if isinstance(value, float) else _ADDRESS.sub("", repr(value))]


def same(one: Any, other: Any, near: float) -> bool:
    """Whether two values show the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other, [near] * len(one)))
    if isinstance(one, (np.ndarray, float)):
        a, b = np.asarray(one), np.asarray(other)
        if near and a.dtype.kind in "fc":
            return a.shape == b.shape and np.allclose(a, b, near, near, equal_nan=True)
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(one == other)


class Outcome:
    """What a comparison found: `difference` is "" if all is alike; `reasons` say why functions ran as they are, and
    `traces` how many traced calls could be repeated.
    """

    def __init__(self, difference: str, reasons: list[str], traces: int) -> None:
        self.difference, self.reasons, self.traces = difference, reasons, traces


def compared(author: Author, backend: str) -> Outcome:
    """Run a program as it is, then compiled."""
    code = compile(author.source, f"<{NAME}>", "exec")
    compiled = functools.partial(torch.compile, backend=backend, dynamic=author.dynamic)
    found: list[list[Any]] = []
    for change in (lambda function: function, compiled):
        with restored():
            world = World(author, code, change)
            found.append([world.call(number) for number in range(len(author.calls))])
            reasons, traces = ([], 0) if change is not compiled else (world.reasons(), world.traces())
    for number, (one, other) in enumerate(zip(*found, strict=True)):
        if not same(one, other, 1e-5 if backend == "llvm" else 0.0):
            parts = [f"{a!r} != {b!r}" for a, b in zip(one, other) if not same(a, b, 1e-5)]
            return Outcome(f"call {number}: {'; '.join(parts[:4]) or 'of another length'}", reasons, traces)
    return Outcome("", reasons, traces)


def shrunk(author: Author, backend: str) -> Author:
    """A program that still differs, without the pieces that do not matter."""
    place = 0
    while place < len(author.pieces) > 1:
        fewer = author.without(place)
        try:
            differs = bool(compared(fewer, backend).difference)
        except Exception:
            differs = False
        if differs:
            author = fewer
        else:
            place += 1
    return author
