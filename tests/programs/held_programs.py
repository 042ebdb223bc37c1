"""Random programs that hold what compiled functions give, change it, and hand it on to the next call.

A program is text: a function of losses, statistics and gradients, and for each call what is given, how the function
is called, and what happens to the results afterwards. It is run as it is and compiled, and must show the same after
each call: all that is held, where it lies in memory, which of it is the same, gradients, parameters, the state of the
optimizer, the random stream, and each error.
"""

from __future__ import annotations

import copy
import gc
import random
import re
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from programs.held_parts import (
    DRAWING,
    ENDS,
    EVENTS,
    GIVEN,
    HEAD,
    MATRICES,
    NUMBERS,
    OPTIMIZERS,
    STATEMENTS,
    STEADY,
    USES,
)

WIDTH = 33
# The rows of calls. Results of 32 rows or more are lent to the program, and not copied.
_ROWS = ((40,) * 8,) * 6 + ((64,) * 8, (1200,) * 8, (40, 41, 42, 43, 44, 40, 60, 300), (40, 40, 64, 64, 40, 64, 64, 40),
                            (40, 0, 1, 40, 0, 300, 1, 40), (1, 1, 2, 40, 40, 2, 1, 0), (9000,) * 5,
                            (40, 1200, 40, 1200, 60, 2000, 40, 1200))
_ADDRESS = re.compile(r"0x[0-9a-f]+")
# Errors with which a comparison ends, since a compiled function refuses more, or may have saved another tensor; and an
# error after which nothing else is compared, since passes come as far as they come.
_MAY_DIFFER = ("does not currently support double backward", "modified by an inplace operation")
_LAST = "backward through the graph a second time"


class Held(NamedTuple):
    """A program: its head, the lines of its function, and for each call the statements."""

    head: str
    function: tuple[str, ...]
    calls: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """The whole as a program."""
        lines = [self.head, *self.function]
        for n, call in enumerate(self.calls):
            lines += [f"# call {n}", *call]
        return "\n".join(lines)


def program(seed: int, steady: bool = False) -> Held:
    """The program of a seed. If `steady`, its results do not hang on the last bits."""
    r = random.Random(seed)
    dtype = "float64" if steady or r.random() < 0.3 else "float32"
    rows, few, function = r.choice(_ROWS), r.choice((1, 2, 3)), _function(r)
    head = "\n".join([f"M, DTYPE = {WIDTH}, torch.{dtype}", "torch.set_default_dtype(DTYPE)", HEAD,
                      f"optimizer = torch.optim.{r.choice(STEADY if steady else OPTIMIZERS)}",
                      "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)"])
    # PyTorch lets transforms save tensors of the inference mode, and retrograd does not.
    uses = [use for use in USES if "inference" not in use[1] or "func." not in "".join(function)]
    calls = [(f"N = {n}", "t = torch.randint(0, M, (N,))", _drawn(r, GIVEN), _drawn(r, uses),
              *[r.choice(EVENTS) for _ in range(r.randint(0, few))]) for n in rows[:r.randint(4, len(rows))]]
    return Held(head, tuple(function), tuple(calls))


def _drawn(r: random.Random, choices: Sequence[tuple[int, str]]) -> str:
    """One of the texts, most often the first."""
    weights, texts = zip(*choices)
    return texts[0] if r.random() < 0.4 else r.choices(texts, weights)[0]


def _function(r: random.Random) -> list[str]:
    lines, matrices = list[str](), ["x", "y"]
    for _ in range(r.randint(1, 4)):
        x = matrices[-1] if r.random() < 0.7 and len(matrices) > 2 else r.choice((*matrices, "x"))
        matrices.append(f"a{len(lines)}")
        lines.append(f"{matrices[-1]} = {r.choice(MATRICES).format(x=x, z=r.choice(matrices[:-1]))}")
    x = matrices[-1]
    numbers = [number.format(x=x, z=r.choice(matrices)) for number in r.sample(NUMBERS, r.choice((1, 1, 2)))]
    lines.append(f"s = {' + '.join(numbers)}")
    if r.random() < 0.25:
        lines.insert(len(lines) - r.randrange(2), r.choice(STATEMENTS).format(x=x))
    if r.random() < 0.1:
        lines.append("seen.append(s.detach())")
    lines += r.choice(ENDS).format(x=x, z=r.choice(matrices[1:]), s="s").splitlines()
    return ["def step(x, y, t):", *[f"    {line}" for line in lines]]


class Compared(NamedTuple):
    """How a program differs if its function is compiled, "" if it does not, and why calls ran as they are."""

    difference: str
    reasons: list[str]


def compared(torch: Any, held: Held, backend: str) -> Compared:
    """The program as it is and with a compiled function, compared."""
    reasons: list[str] = []
    plain, compiled = [_lived(torch, held, b, reasons) for b in (None, backend)]
    near = 2e-5 if any([word in held.text() for word in ("float32", ".float()", "autocast", "half")]) else 1e-9
    for n, (one, other) in enumerate(zip(plain, compiled, strict=True)):
        said = " ".join([message for _, message in (*one["errors"], *other["errors"])])
        if any([words in said for words in _MAY_DIFFER]):
            break
        for name in one:
            found = unlike(one[name], other[name], near)
            if found:
                return Compared(f"call {n}, {name}: {found}", reasons)
            if _LAST in said:
                break                                      # the errors are the first that are compared
    return Compared("", reasons)


def unlike(one: Any, other: Any, near: float) -> str:
    """How two values that were shown differ. Numbers may differ by `near` times the largest: large sums of NumPy's
    plans, and all sums of machine code, add in another order.
    """
    if type(one) is not type(other) or (isinstance(one, (list, tuple)) and len(one) != len(other)):
        return f"{str(one)[:300]} and {str(other)[:300]}"
    if isinstance(one, (list, tuple)):
        each = [(i, unlike(a, b, near)) for i, (a, b) in enumerate(zip(one, other))]
        return next((f"[{i}] {found}" for i, found in each if found), "")
    if isinstance(one, np.ndarray):
        alike = _alike(one, other, near)
        return "" if alike else f"{one.dtype}{one.shape} {one} and {other.dtype}{other.shape} {other}"
    return "" if one == other or (one != one and other != other) else f"{one!r} and {other!r}"


def _alike(one: Any, other: Any, near: float) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.tobytes() == other.tobytes() or one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    finite = np.isfinite(one)
    scale = max(1.0, float(np.abs(one[finite]).max(initial=0)))
    return bool((finite == np.isfinite(other)).all() and (np.abs(one - other)[finite] <= near * scale).all())


def _lived(torch: Any, held: Held, backend: str | None, reasons: list[str]) -> list[dict[str, Any]]:
    """What shows after each call."""
    found, threads = [], torch.get_num_threads()
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            scope: dict[str, Any] = {
                "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "copy": copy, "gc": gc, "weakref": weakref,
                "np": np, "BACKEND": backend, "__name__": "held_program", "x": None, "y": None, "out": None}
            exec("\n".join([held.head, *held.function]), scope)
            helpers = _Helpers(torch, scope, any([word in "".join(held.function) for word in DRAWING]))
            scope.update({name: getattr(helpers, name) for name in vars(_Helpers) if not name.startswith("_")})
            scope["run"] = scope["step"] if backend is None else torch.compile(scope["step"], backend=backend)
            for call in held.calls:
                errors = [error for text in call if (error := _error_of(text, scope)) is not None]
                found.append({"errors": errors, **_state(torch, scope)})
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)
    reasons += [str(each.message) for each in said if "as it is" in str(each.message)]
    return found


def _error_of(text: str, scope: dict[str, Any]) -> tuple[str, str] | None:
    """Run a statement. Returns the error that it raises."""
    try:
        exec(text, scope)
    except Exception as error:
        return type(error).__name__, _ADDRESS.sub("", str(error))
    return None


class _Helpers:
    """The functions that programs call besides those of their head. `draws` says that the order of calls shows."""

    def __init__(self, torch: Any, scope: dict[str, Any], draws: bool) -> None:
        self.torch, self.scope, self.draws = torch, scope, draws

    def fresh(self, needs: bool = False) -> Any:
        """Random numbers, with the rows of the call."""
        return self.torch.randn(self.scope["N"], WIDTH, dtype=self.scope["DTYPE"], requires_grad=needs)

    def like(self, value: Any) -> Any:
        """A matrix that is held, if there is one of this size."""
        fit = [each for each in self.scope["all_of"](value) if each.shape == (self.scope["N"], WIDTH)]
        return fit[-1] if fit else self.fresh()

    def gradgrad(self, loss: Any) -> None:
        """Gradients of gradients."""
        leaves, grad = [p for p in self.scope["parameters"] if p.requires_grad], self.torch.autograd.grad
        found = grad(loss, leaves, allow_unused=True, create_graph=True)
        there = [g.square().sum() for g in found if g is not None and g.requires_grad]
        if there:
            self.scope["seen"].append(grad(sum(there), leaves, allow_unused=True))

    def threaded(self, call: Callable[[], Any]) -> Any:
        """The result of a call in another thread."""
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(_outcome(call)))
        thread.start()
        thread.join()
        result, error = found.pop()
        if error is not None:
            raise error
        return result

    def together(self, call: Callable[[], Any]) -> None:
        """Calls of two threads at once."""
        def work() -> None:
            with self.torch.no_grad():
                found.append([[t.detach().clone() for t in self.scope["all_of"](_outcome(call)[0])] for _ in range(3)])

        found: list[Any] = []
        threads = [] if self.draws else [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.scope["seen"].append(found)

    def raised(self, call: Callable[[], Any]) -> None:
        """The error of a call."""
        error = _outcome(call)[1]
        self.scope["seen"].append((type(error).__name__, _ADDRESS.sub("", str(error))))


def _outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """The result of a call, and the error that it raises."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def _state(torch: Any, scope: dict[str, Any]) -> dict[str, Any]:
    """All that shows after a call."""
    names, optimizer = ("out", "held", "seen", "x", "y", "w", "b", "average"), scope["optimizer"]
    there = [each for name in names for each in scope["all_of"](scope[name])]
    arrays = [t._array for t in there] + [each for each in scope["held"] if isinstance(each, np.ndarray)]
    options = [{name: option for name, option in group.items() if name != "params"} for group in optimizer.param_groups]
    return {**{name: shown(torch, scope[name], name not in ("held", "seen")) for name in names},
            "net": shown(torch, [*scope["net"].parameters()]), "optimizer": shown(torch, [*optimizer.state.values()]),
            "options": shown(torch, options), "scaler": shown(torch, scope["scaler"].state_dict()),
            "same": [next(i for i, u in enumerate(there) if t is u) for t in there],
            "shared": [np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i]],
            "weak": [each() is None for each in scope["weak"]],
            "modes": (torch.is_grad_enabled(), str(torch.get_default_dtype()), torch.get_rng_state().numpy().tobytes())}


def shown(torch: Any, value: Any, counted: bool = False) -> Any:
    """All that shows of a value. The writes to gradients are not `counted`: the first one may be a copy."""
    if isinstance(value, torch.Tensor):
        return _shown_tensor(torch, value, counted)
    if isinstance(value, np.ndarray):
        return "array", value.strides, value.copy()
    if isinstance(value, dict):
        return [(key, shown(torch, part, counted)) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *[shown(torch, part, counted) for part in value]
    return type(value).__name__, np.array(value) if isinstance(value, float) else _ADDRESS.sub("", repr(value))


def _shown_tensor(torch: Any, x: Any, counted: bool) -> Any:
    try:
        grad = x.grad if x.is_leaf or x.retains_grad else None
    except RuntimeError as error:                          # of a stale view
        return str(error)[:40]
    numbers, inference = x.detach(), x.is_inference()
    numbers = numbers.float() if numbers.dtype in (torch.bfloat16, torch.float16) else numbers
    storage = x.untyped_storage()
    steps = [step for step, size in zip(x.stride(), x.shape) if size != 1]
    place = x.numel() and (steps, x.storage_offset(), storage.nbytes(), x.data_ptr() - storage.data_ptr())
    return (type(x).__name__, str(x.dtype), [*x.shape], place, x.requires_grad, x.is_leaf, inference, x._is_view(),
            not counted or inference or x._version, numbers.numpy().copy(), sorted(vars(x)),
            None if grad is None else shown(torch, grad))


def shrunk(torch: Any, held: Held, backend: str) -> Held:
    """A program that still differs, without the calls and the statements that do not matter."""
    for n in range(len(held.calls) - 1, -1, -1):
        fewer = _smaller(torch, held, held.calls[:n] + held.calls[n + 1:], backend) if len(held.calls) > 1 else held
        if fewer is not held:
            held = fewer
            continue
        for place in range(len(held.calls[n]) - 1, 1, -1):
            call = held.calls[n]
            kept = () if place > 3 else ((GIVEN if place == 2 else USES)[0][1],)
            calls = (*held.calls[:n], (*call[:place], *kept, *call[place + 1:]), *held.calls[n + 1:])
            held = _smaller(torch, held, calls, backend)
    return held


def _smaller(torch: Any, held: Held, calls: tuple[tuple[str, ...], ...], backend: str) -> Held:
    """The program with these calls if it still differs, else the program."""
    fewer = held._replace(calls=calls)
    try:
        return fewer if compared(torch, fewer, backend).difference else held
    except Exception:
        return held
