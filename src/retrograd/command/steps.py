"""The steps of a program, as it runs in a process of its own, with PyTorch or with retrograd as its torch.

A step is a call that the program itself makes: of a function of torch, of a module, or of an optimizer. Each step is
sent to the process that compares. Only names that both packages have are used here.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from math import inf
from multiprocessing.connection import Connection
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from retrograd.command import pytorch_pass
from retrograd.command.cli import close_output, flush_output
from retrograd.command.imports import as_torch
from retrograd.command.run import run
from retrograd.viz.passes import awaiting, exploring

PYTORCH, OURS = "PyTorch", "retrograd"
WELL = "exit status 0"
# Calls that the code of these modules makes are parts of a step of the program.
_PARTS = tuple(part.replace("/", os.sep) for part in (
    "nn/modules", "nn/init", "nn/utils", "nn/parameter", "optim", "utils", "distributions", "autograd", "func",
    "_functorch", "testing", "ao", "quantization", "serialization"))
# The calls of modules by a container go through the code of these modules.
_CONTAINERS = (os.path.join("nn", "modules", "container.py"), os.path.join("nn", "modules", "module"))


class Array(NamedTuple):
    """What a tensor holds. `values` is None if NumPy cannot show them."""

    dtype: str
    shape: tuple[int, ...]
    values: Any


class Step(NamedTuple):
    """A call, its line, and the tensors and numbers that it gave, or the error that it raised."""

    name: str
    file: str
    line: int
    found: list[Any]
    error: str = ""


class SeenPass(NamedTuple):
    """The document of the first backward pass, for the page."""

    document: Any


class End(NamedTuple):
    """How a program ended: its exit status, or the error that ended it."""

    said: str


def child(connection: Connection, package: str, options: argparse.Namespace) -> None:
    """Run the program and send its steps, and at last its end. This is the first function of the process."""
    multiprocessing.set_start_method(None, force=True)       # the program chooses how its own processes start
    signal.signal(signal.SIGINT, signal.SIG_IGN)             # an interrupt is for the process that compares
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if package == PYTORCH:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    else:
        as_torch()
    random.seed(0)
    np.random.seed(0)
    torch = importlib.import_module("torch")
    torch.manual_seed(0)
    recorder = _Recorder(torch, connection)
    end = WELL
    try:
        with recorder.mode(), _pass_sent(package, torch, connection, options):
            run(options, ours=package == OURS)
    except SystemExit as error:
        end = f"exit status {error.code or 0}"
    except BaseException as error:
        end = f"{type(error).__name__}: {error}"
    try:
        flush_output()
    except BrokenPipeError:                                 # nobody reads what the program prints
        close_output()
    connection.send(End(end))
    connection.close()


@contextmanager
def _pass_sent(package: str, torch: Any, connection: Connection, options: argparse.Namespace) -> Iterator[None]:
    """A context in which the first backward pass is sent, if a page is asked for."""
    program = options.module or options.script
    with ExitStack() as stack:
        if options.page is None:
            pass
        elif package == PYTORCH:
            pytorch_pass.watch(torch, lambda document: connection.send(SeenPass(document)))
        else:
            look = exploring(f"First backward pass of {program}", program)
            stack.enter_context(awaiting(1, look, lambda count: None, lambda found: connection.send(SeenPass(
                getattr(found, "document", None)))))
        yield


class _Recorder:
    """Sends the steps of the running program. `busy` is true while a step is examined, whose calls are no steps.

    `met` numbers the leaves in the order in which the program used them. The graphs of gradients differ between the
    packages, so a walk through such a graph finds the leaves in another order.
    """

    def __init__(self, torch: Any, connection: Connection) -> None:
        self.torch, self.connection = torch, connection
        self.roots = [os.path.join(folder, "") for folder in torch.__path__]
        self.busy = False
        self.met = importlib.import_module("torch.utils.weak").WeakTensorKeyDictionary()
        self.numbers = count()

    def mode(self) -> Any:
        """The context in which steps are sent."""
        recorder = self

        class Steps(self.torch.overrides.TorchFunctionMode):  # type: ignore[name-defined]
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return recorder.function(func, args, kwargs or {})

        self._watch_modules()
        importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(self._after_step)
        return Steps()

    def function(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of torch, and send the step if the program made the call."""
        own = func.__code__ if func is self.torch.autograd.grad else None     # PyTorch's stands among the parts
        frame = None if self.busy else self._caller(modules=False, own=own)
        name = getattr(func, "__name__", "")
        if frame is None or name in ("__get__", "__set__", "__repr__", "__format__", "manual_seed"):
            return func(*args, **kwargs)
        self._examined(lambda: self._meet([args, kwargs]))
        leaves = self._examined(lambda: self._leaves_of(args[0])) if name == "backward" and args else []
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self._send(name, frame, [], type(error).__name__)
            raise
        written = args[:1] if name == "__setitem__" else ()
        self._send(name, frame, [leaf.grad for leaf in leaves] if leaves else [result, *written])
        return result

    def _watch_modules(self) -> None:
        module = self.torch.nn.Module
        call, recorder = module.__call__, self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            frame = None if recorder.busy else recorder._caller(modules=True)
            if frame is not None:
                recorder._examined(lambda: recorder._meet([args, kwargs, [*self.parameters()]]))
            result = call(self, *args, **kwargs)
            if frame is not None:
                recorder._send(f"{type(self).__name__}.forward", frame, [result])
            return result

        module.__call__ = __call__

    def _after_step(self, optimizer: Any, *args: Any) -> None:
        frame = self._caller(modules=None)
        if frame is not None:
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            self._send(f"{type(optimizer).__name__}.step", frame, parameters)

    def _caller(self, modules: bool | None, own: CodeType | None = None) -> FrameType | None:
        """The frame of the program that made a call; None if the code of a module, say, made the call.

        `own` is the code of the called function itself, if its frame may be on the stack.

        A container's calls of its modules count as the program's if `modules` is true. None accepts every call.
        """
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if file != __file__ and not file.startswith("<frozen") and frame.f_code is not own:
                root = next((root for root in self.roots if file.startswith(root)), None)
                if root is None:
                    return frame
                inside = file[len(root):]
                if modules is not None and inside.startswith(_PARTS) and not (
                        modules and inside.startswith(_CONTAINERS)):
                    return None
            frame = frame.f_back
        return None

    def _send(self, name: str, frame: FrameType, values: list[Any], error: str = "") -> None:
        found = self._examined(lambda: [each for value in values for each in self._facts(value)])
        if found or error:
            self.connection.send(Step(name, frame.f_code.co_filename, frame.f_lineno, found, error))

    def _examined(self, look: Callable[[], list[Any]]) -> list[Any]:
        """The result of a function whose calls are no steps."""
        before, self.busy = self.busy, True
        try:
            with self.torch.no_grad():
                return look()
        finally:
            self.busy = before

    def _meet(self, value: Any) -> list[Any]:
        """Number the leaves in a value that the program uses."""
        if isinstance(value, self.torch.Tensor):
            if value.is_leaf and value.requires_grad and value not in self.met:
                self.met[value] = next(self.numbers)
        elif isinstance(value, (list, tuple, dict)):
            for each in value.values() if isinstance(value, dict) else value:
                self._meet(each)
        return []

    def _leaves_of(self, root: Any) -> list[Any]:
        """The leaves of a graph, in the order in which the program used them; then those that the program hid."""
        return sorted(_leaves(root), key=lambda leaf: self.met.get(leaf, inf))

    def _facts(self, value: Any) -> Iterator[Any]:
        """The tensors and numbers in a result."""
        if isinstance(value, self.torch.Tensor):
            yield Array(str(value.dtype), tuple(value.shape), self._values(value))
        elif isinstance(value, (bool, int, float, complex)):
            yield value
        elif isinstance(value, (list, tuple)):
            for each in value:
                yield from self._facts(each)
        elif isinstance(value, dict):
            yield from self._facts([*value.values()])

    def _values(self, tensor: Any) -> Any:
        try:
            plain = tensor.detach()
            plain = plain.to_dense() if str(plain.layout) != "torch.strided" else plain
            plain = plain.to(self.torch.float32) if plain.dtype == self.torch.bfloat16 else plain
            return np.array(plain.resolve_conj().resolve_neg().cpu().numpy())
        except Exception:                                   # a tensor of the device meta, or of a subclass
            return None


def _leaves(root: Any) -> Iterator[Any]:
    """The leaves of a graph, in the order in which a walk from its root finds them."""
    waiting, seen = [getattr(root, "grad_fn", None)], set()
    for node in waiting:
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            yield node.variable
        waiting += [following for following, _ in node.next_functions]
