"""Programs that are interrupted at a line of the compiler, and what must hold afterwards."""

from __future__ import annotations

import builtins
import copy
import linecache
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import retrograd as torch
from retrograd import compilation
from retrograd.compilation.compiled import Compiled, Tracing
from retrograd.compilation.program.sizes import Uses
from retrograd.compilation.trace.borders import Border
from retrograd.foundations.modes import local
from retrograd.optim.option_memory import OptionMemory

FOLDER = str(Path(compilation.__file__).parent)
_LOCKED = re.compile(r" *with [\w.]*(lock|_compiling):")
_PRINTING = {name: getattr(builtins, name) for name in ("print", "input", "open")}


class Interrupted:
    """Raises KeyboardInterrupt at the line number `at` of the compiler, or of the code that it has made.

    `lines` are the lines that have run. Each is told as its file and number. Lines that take or give back a lock of
    Python's do not count: Python looks for a signal neither between such a lock and its block nor behind the block, but
    a trace function can raise an error there.
    """

    def __init__(self, at: int | None) -> None:
        self.at, self.lines = at, list[tuple[str, int]]()

    def __enter__(self) -> Interrupted:
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        name = frame.f_code.co_filename
        ours = name.startswith((FOLDER, "<compiled ")) or name == "<guard>"
        return self._line if ours else None

    def _line(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "line" and not _LOCKED.match(linecache.getline(frame.f_code.co_filename, frame.f_lineno)):
            self.lines.append((frame.f_code.co_filename, frame.f_lineno))
            if len(self.lines) - 1 == self.at:
                raise KeyboardInterrupt
        return self._line


class Program:
    """A step with all that it uses. A copy of it is a program of its own, with the same state."""

    sizes: tuple[int, ...] = (6, 6, 6)

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        self.prepare()

    def prepare(self) -> None:
        """Make what else the program uses."""

    def batch(self, call: int) -> Any:
        """The argument of a call."""
        size = self.sizes[call % len(self.sizes)]
        return torch.randn(size, 4, generator=torch.Generator().manual_seed(call))

    def twin(self) -> Program:
        """A program of its own with the same state."""
        return copy.deepcopy(self)

    def tensors(self) -> list[Any]:
        """All tensors of the program."""
        found = [*self.model.parameters(), *self.model.buffers(), *[p.grad for p in self.model.parameters()]]
        optimizer = getattr(self, "optimizer", None)
        for state in [] if optimizer is None else optimizer.state.values():
            found += [value for value in state.values() if isinstance(value, torch.Tensor)]
        return [tensor for tensor in found if tensor is not None] + getattr(self, "kept", [])

    def step(self, x: Any) -> Any:
        raise NotImplementedError


class Gradients(Program):
    def step(self, x: Any) -> Any:
        for p in self.model.parameters():
            p.grad = None
        loss = (self.model(x) ** 2).mean()
        loss.backward()
        return loss.detach()


class Steps(Program):
    def prepare(self) -> None:
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.5)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = (self.model(x) ** 2).mean()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.detach()


class Adam(Program):
    def prepare(self) -> None:
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.1)

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = (self.model(torch.nn.functional.dropout(x, 0.2)) ** 2).mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Looks(Steps):
    """Looks at a number, so that the trace is given up."""

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = (self.model(x) ** 2).mean()
        if float(loss.detach()) > 1e9:
            return loss
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Sized(Steps):
    sizes = (6, 7, 9, 11, 5)


class Listed(Steps):
    """The batch also stands in a list that the step knows, and the step asks for it."""

    def prepare(self) -> None:
        super().prepare()
        self.batches = [Program.batch(self, call) for call in range(2)]
        self.extra = [torch.ones(4)]

    def batch(self, call: int) -> Any:
        return self.batches[call % 2]

    def tensors(self) -> list[Any]:
        return [*super().tensors(), *self.batches, *self.extra]

    def step(self, x: Any) -> Any:
        x.add_(self.extra[0])
        return super().step(x) + self.batches[0].sum() * 0


class Outside(Program):
    """The argument has a history outside of the step, and the results get one."""

    def batch(self, call: int) -> Any:
        return super().batch(call) * self.model[0].weight.sum()

    def step(self, x: Any) -> Any:
        y = self.model(x)
        return y.sum(), y[1:]


class Hooked(Outside):
    """The parameters and the layers have hooks."""

    def prepare(self) -> None:
        for parameter in self.model.parameters():
            parameter.register_hook(lambda gradient: gradient * 2)
        self.model[1].register_forward_hook(lambda layer, args, result: result * 3)

    def twin(self) -> Program:
        found = type(self)()                               # copies of tensors have no hooks
        for mine, other in zip(found.tensors(), self.tensors(), strict=True):
            mine.data.copy_(other.data)
        return found


class Large(Program):
    """Calls on large arrays are put off, and the step keeps their results."""

    def prepare(self) -> None:
        self.w = torch.full((1 << 18,), 0.5)
        self.kept = [torch.zeros(1)]

    def batch(self, call: int) -> Any:
        return torch.full((1 << 18,), 1.0 + call)

    def step(self, x: Any) -> Any:
        self.kept[0] = (x * self.w).sin() + 1
        y = self.kept[0].exp() * x
        return y, y.sum()


class Held(Program):
    """Holds results of the last two calls, so the plan goes on with other memory."""

    def prepare(self) -> None:
        self.w = torch.full((3000,), 0.5)
        self.kept = [torch.zeros(3000), torch.zeros(3000)]

    def batch(self, call: int) -> Any:
        return torch.full((3000,), 1.0 + call)

    def step(self, x: Any) -> Any:
        y = (x * self.w).sin() + 1
        self.kept[0], self.kept[1] = self.kept[1], y
        return y.exp(), x + 1


class Counting(Steps):
    """Counts in its state, hands on numbers, and branches on one."""

    def prepare(self) -> None:
        super().prepare()
        self.calls, self.total, self.losses = 0, 0.0, list[float]()

    def step(self, x: Any) -> Any:
        loss = super().step(x)
        self.calls += 1
        self.total += loss.item()
        self.losses.append(loss.item())
        return loss if loss < 1e9 else loss.sqrt()


class SizedCounting(Counting):
    """The same for batches of many sizes, and computes with the sizes."""

    sizes = Sized.sizes

    def step(self, x: Any) -> Any:
        loss = super().step(x)
        self.total += loss.item() * x.shape[0]
        self.losses.append(self.calls / x.shape[0])
        return loss * self.calls


PROGRAMS: dict[str, type[Program]] = {cls.__name__: cls for cls in (
    Gradients, Steps, Adam, Looks, Sized, Listed, Outside, Hooked, Large, Held, Counting, SizedCounting)}


def counted(program: Program) -> list[Any]:
    """The numbers in the state of a program. (A method would read the list that the program only appends to.)"""
    return [program.calls, program.total, *program.losses] if isinstance(program, Counting) else []


def interrupted(kind: type[Program], backend: str, call: int, at: int | None) -> tuple[Program, Any, Interrupted]:
    """A program after a call that was interrupted, with what was compiled of it."""
    program = kind()
    step = torch.compile(program.step, backend=backend)
    for before in range(call):
        step(program.batch(before))
    x = program.batch(call)
    with Interrupted(at) as lines, suppress(KeyboardInterrupt):
        step(x)
    return program, step, lines


def left_behind(program: Program) -> list[str]:
    """What a trace has left behind that it should have given back."""
    found = [f"a tensor has {type(tensor._array).__name__}" for tensor in program.tensors()
             if type(tensor._array) is not np.ndarray]
    found += [f"a number is a {type(number).__name__}" for number in counted(program)
              if type(number) not in (int, float)]
    found += ["a border" for tensor in program.tensors() if isinstance(tensor._edge, Border)]
    thread = local.thread
    for words, holds in (
            ("a profile function", sys.getprofile() is not None), ("a transform", thread.transform is not None),
            ("the grad mode", not thread.grad), ("uses of sizes", Uses.current is not None),
            ("options", bool(OptionMemory.of_groups)), ("the thread that traces", Tracing.thread is not None),
            ("the lock", Tracing.lock._is_owned()),  # type: ignore[attr-defined]
            ("print", any([getattr(builtins, name) is not each for name, each in _PRINTING.items()])),
            ("a step", "step" in vars(getattr(program, "scheduler", program)) and program.scheduler is not None),
            ("a hook", bool(getattr(getattr(program, "optimizer", None), "_optimizer_step_pre_hooks", None)))):
        if holds:
            found.append(words)
    return found


def reset() -> None:
    """Take away what a trace has left behind, for the next test."""
    sys.setprofile(None)
    local.thread.transform, local.thread.grad, Uses.current, OptionMemory.of_groups = None, True, None, {}
    Tracing.thread = None
    for name, each in _PRINTING.items():
        setattr(builtins, name, each)
    while Tracing.lock._is_owned():  # type: ignore[attr-defined]
        Tracing.lock.release()


def difference(program: Program, step: Callable[..., Any], call: int, exact: bool) -> str:
    """How the next calls differ from those of a copy of the program that is not compiled; "" if they do not."""
    state, twin = torch.get_rng_state(), program.twin()
    for later in range(call, call + 4):
        torch.set_rng_state(state)
        x, other_x = program.batch(later), twin.batch(later)
        wanted = _outcome(twin.step, other_x)
        after = torch.get_rng_state()
        torch.set_rng_state(state)
        found = _outcome(step, x)
        if isinstance(wanted, str) or isinstance(found, str):                # such as that of an Adam without state
            return "" if found == wanted else f"call {later}: {found} and {wanted}"
        if not torch.equal(torch.get_rng_state(), after):
            return f"call {later}: random numbers"
        state = after
        if not np.allclose(counted(program), counted(twin), 1e-4):
            return f"call {later}: {counted(program)} and {counted(twin)}"
        for mine, other in zip([*_results(found), *program.tensors()], [*_results(wanted), *twin.tensors()],
                               strict=True):
            if mine.shape != other.shape or not (torch.equal(mine, other) if exact else torch.allclose(
                    mine, other, 1e-4, 1e-5)):
                return f"call {later}: {mine} and {other}"
        for mine, other in zip(_results(found), _results(wanted)):
            if mine.requires_grad:
                grads = [torch.autograd.grad(part.sum(), [*owner.model.parameters()], allow_unused=True,
                                             retain_graph=True)
                         for part, owner in ((mine, program), (other, twin))]
                for one, two in zip(*grads):
                    if (one is None) != (two is None) or (one is not None and not torch.allclose(one, two, 1e-4)):
                        return f"call {later}: a gradient"
    return ""


def _outcome(function: Callable[..., Any], x: Any) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return function(x)
    except Exception as error:
        return repr(error)


def _results(found: Any) -> list[Any]:
    return [*found] if isinstance(found, tuple) else [found]


def compiled_of(step: Any) -> Compiled | None:
    """The compiled function behind what `compile` has returned."""
    run = step.__closure__[0].cell_contents.run
    return run if isinstance(run, Compiled) else None
