"""Random functions that hand on numbers and count in their state, to be run as they are and compiled.

Each function is called several times, with changes from outside between the calls. Results and state are compared in
value and in exact type. Nothing may keep a stand-in for a number.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import io
import math
import random
import warnings
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograd.compilation.program.stand_in_numbers import Number

SETUP = """
class State:
    pass

class Meter:
    def __init__(self):
        self.val = self.sum = 0.0
        self.count = 0
        self.avg = 0.0
    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

def make():
    s = State()
    s.total, s.n, s.best, s.last, s.zero = 0.0, 0, 1e9, None, -0.0
    s.hist, s.log, s.window = [], [], deque(maxlen=3)
    s.stats, s.nested = {"a": 0, "b": 0.0}, {"x": {"y": 1}, "l": [1, 2.5, 3], "h": []}
    s.ordered, s.pair, s.big = OrderedDict(k=1), (0, 0.0), 2 ** 53
    s.meter, s.dup = Meter(), {"a": 0, "b": 0.0}
    s.w = torch.tensor([0.5, -1.0, 2.0])
    s.t = torch.tensor([2 ** 53 + 1, -7])
    s.flag, s.keyed = torch.tensor(True), {"h": []}
    s.x0, s.p = torch.zeros(()), torch.tensor([1.0, -1.0, 0.5], requires_grad=True)
    return s
"""
TENSORS = (
    "y = x * 2", "y = x + s.w", "y = (x * x).sum()", "s.w.add_(x)", "s.w.mul_(0.5)", "v = s.w[0]", "v = s.x0",
    "s.t.add_(1)", "y = x.max()", "z = x / x.sum()", "z = (x - x) / (x - x)", "z = 1 / (x - x)",
    "s.x0.copy_(x.sum())", "s.x0.fill_(2.5)", "y = y + 1", "z = z * 0", "s.w = s.w + 1", "s.w.zero_()",
    "v = x[1:].sum()")
READS = (
    "y.sum()", "v", "s.t[0]", "x[0]", "z.sum()", "(x > 0).sum()", "s.w.mean()", "y.double().sum()", "y.sum().half()",
    "s.x0", "s.t.sum()", "x.sum().reshape(1, 1)", "(-x * 0).sum()", "s.w.max()", "(x > 0).all()", "s.flag",
    "x.sum().bfloat16()", "s.t[1].short()")
NUMBERS = (
    "a + 1", "a * 2.5", "a - s.n", "-a", "abs(a)", "round(a, 3)", "a / 4", "s.total / 7", "a // 2", "a % 3", "a * a",
    "1 - a", "2 * a - b", "+b", "a + True", "s.n * 2", "s.total + s.n", "s.n / 3", "s.big + s.n", "a * s.stats['a']",
    "s.nested['x']['y']", "b", "s.n // 2", "0.9 * s.total + 0.1 * a", "s.zero * a", "a - s.zero", "s.n - 1",
    "s.nested['l'][1]", "-s.n", "s.n % 4", "1 / (s.n + 1)", "s.n // (s.n + 2)", "c * 2", "c", "s.pair[1]")
STORES = (
    "s.dup['a'] += 2", "s.dup['b'] = a", "s.log.append(c)", "s.hist.append(b)", "s.hist = []", "s.keyed['h'].append(a)",
    "s.total += a", "s.n += 1", "s.last = a", "s.hist.append(a)", "s.hist.append((s.n, a))", "s.stats['a'] += 1",
    "s.stats['b'] = a", "s.stats['new'] = c", "s.nested['x']['y'] += 1", "s.pair = (a, s.n)",
    "s.d = {'l': a, 'k': [c]}", "G += 1", "s.n = 0", "s.last, s.total = s.total, s.last or 0.0", "s.window.append(a)",
    "s.log.append(y.detach())", "s.n = s.n + 1", "s.total = s.total * 0.9 + a", "s.meter.update(a, 2)",
    "s.meter.update(c)", "s.best = b", "s.nested['l'][1] = a", "s.nested['h'].append(c)", "s.ordered['k'] += 1",
    "s.ordered['z'] = b", "s.big += 1", "s.total = 0.0", "s.stats.update(a=s.n)", "s.stats = {'a': s.n, 'b': a}",
    "s.zero = a", "s.log.append({'a': a})", "s.nested['x'] = {'y': 3}", "s.counted = s.n", "State.k = s.n",
    "step.calls = s.n", "count += 1", "s.same = s.hist", "s.hist.append(a); s.hist.append(a)", "s.n -= 1",
    "s.hist.append(x.tolist())", "s.stats.setdefault('q', a)")
BRANCHES = (
    "if x.sum() > 0: s.w.mul_(0.5)", "if a > 1: s.n += 1", "for k in range(4): y = y * 0.5 if y.sum() > 4 else y",
    "s.total += a * 2",
    "if torch.isnan(z).any(): z = x", "if (x > 1).all(): return 1,", "if a < s.best: s.best = a; s.n = 0",
    "s.best = min(s.best, a)", "c = max(a, b, 0.5)", "if not torch.isfinite(z).all(): return None, s.n",
    "assert not torch.isnan(x).any()", "if a: s.total += 1", "c = 1 / a if a else 0.0", "(s.p * x).sum().backward()",
    "s.p.grad = None", "if s.p.grad is not None and s.p.grad.sum() > 0: s.p.grad = None", "s.x0.add_(a > 0)",
    "with torch.no_grad(): s.p.sub_(0.1 * x)", "y = torch.nn.functional.dropout(x, 0.5)", "s.p.data.mul_(0.5)",
    "if s.w[0] > 1: s.w.data.zero_()", "x.add_(1)", "s.hist.append(a) if a > b else s.log.append(b)",
    "if (y > 2).any(): x.mul_(2); s.w[1] = 3.0", "v = s.w[1:]; v.add_(1)", "if a == b: s.n = s.n + 2",
    "s.flag.logical_not_()", "if s.flag: s.t.add_(1)", "if y.sum() < -2: raise ValueError('low')", "t = x[x.argmax()]",
    "s.stats[s.n] = a", "t = {s.n: a}", "t = {(s.n, 1): 2}", "s.d = {s.n: [a]}",
    "t = x[(x > 0).sum() - 1]", "y = torch.rand(3) + x", "if torch.rand(()) > 0.5: s.n += 1")
LOOKS = (
    "y = y + 1 if a > 0 else y", "t = str(a)", "t = f'{a:.2f}'", "t = '%.3f' % a", "c = math.tanh(a)",
    "c = np.float64(a)", "y = y * a", "y = y + s.n", "t = {a: 1}", "c = hash(s.n)", "c = int(s.total)",
    "c = float(a)", "t = torch.tensor([a])", "t = torch.full((2,), s.total)",
    "t = torch.from_numpy(np.array([a, 1]))", "c = max(a, 0.5)", "y = y + 1 if s.n % 3 == 0 else y",
    "c = [0, 1, 2, 3][s.n % 4]", "t = isinstance(a, float)", "t = a == s.last", "y = x.clamp(max=a)",
    "c = sum([a, a])", "c = copy.deepcopy(a)", "for _ in range(s.n % 3): y = y + 1", "t = a in s.hist",
    "s.best = min(s.best, a)", "t = torch.tensor(a)", "t = torch.tensor(s.total)", "t = torch.as_tensor([s.n, 2])",
    "t = x * torch.tensor(s.n)", "c = a ** 2", "c = divmod(s.n, 3)[1]", "t = bool(a)", "t = len(s.hist)",
    "c = s.hist[-1] if s.hist else 0", "t = x.new_full((2,), c)", "t = torch.where(x > 0, x, a)", "c = round(a)",
    "c = math.floor(s.total)", "t = a.is_integer() if type(a) is float else 0", "t = repr(b)", "t = complex(a, 1)",
    "c = 1j * a", "c = np.float32(2) * a", "c = np.array([1.0, 2.0]) * a", "t = x.tolist() + [a]",
    "t = sorted([a, 0, b])", "s.window.append(s.n); c = sum(s.window)", "t = s.n and 3", "t = not s.n",
    "c = 5 // s.n if s.n else 0", "c = 3 / a", "t = torch.nn.functional.dropout(x, p=0.0 * s.n)", "t = x[: s.n % 3]",
    "t = x.view(s.n - s.n + 3)", "c = pow(s.n, 2, 5)", "t = a is b", "t = s.last is None", "raise ValueError(a)",
    "t = (lambda: a)()", "t = json.dumps([s.n])", "t = s.n if a != a else 0", "t = x.sum() < a",
    "t = torch.arange(s.n % 5)", "c = a if s.stats['a'] > 2 else -1.0", "t = pickle.loads(pickle.dumps(a))",
    "keep.append(lambda: a)", "s.n = int(s.total)", "c = np.asarray(a).item()", "t = torch.linspace(0, s.n, 3)",
    "x.data[0] = a", "s.w[0] = a", "s.w += a", "c = s.meter.avg * a", "t = x.sum() * s.n")
# What a program hands on in deques, and as arrays of NumPy.
KEPT = (
    "s.window.append(c)", "s.window.append(b)", "s.window.append(None)", "s.window.append((s.n, a))",
    "s.window.append(x.sum()); s.window.append(0)", "s.hist.append(x.numpy())", "s.log.append((y * 2).numpy())",
    "s.hist.append(s.w.numpy())", "s.keyed['h'].append(y.numpy())", "k = x.numpy(); s.log.append(k)",
    "k = s.window.append; k(a)", "t = x.numpy().sum()", "[s.window.append(k) for k in (1, a)]",
    "s.window.append(x.numpy()) if s.n > 2 else None")
HANDED = ("x.numpy()", "(x * 2).numpy()", "s.w.numpy()", "{'k': y.numpy(), 'n': s.n}", "[x.numpy(), a]")
RESULTS = (
    "a", "b", "c", "y", "s.total", "s.n", "s.hist", "{'a': a, 'n': s.n}", "[a, c]", "(a, (s.last, x))", "s.stats",
    "t", "s.meter.avg", "z", "s.nested", "s", "a * 2", "x.sum()", "y.sum().item()", "x.tolist()", "s.log")
BETWEEN = (
    "s.hist = s.log", "s.dup = s.stats", "s.log = s.hist = [1]", "s.keyed = {'h': s.hist}",
    "s.n = 5", "s.hist.clear()", "s.last = None", "s.total = float('nan')", "s.total = float('inf')", "s.n = 2.5",
    "s.stats['a'] = 0", "s.n = 2 ** 62", "s.n = 10 ** 400", "s.t = torch.tensor([1, 2])", "s.zero = 0.0",
    "s.n = True", "s.meter.count = -2", "s.hist = []", "s.x0 = s.w[1]", "s.nested['h'] = []", "s.n = 0",
    "s.big = 1.5", "s.total = -0.0", "s.stats = {'a': 1, 'b': 2.0}", "s.w = s.w.double()", "step.calls = 0")


def program(seed: int) -> str:
    """The source of a random function, with its state."""
    r = random.Random(seed)
    body = ["global G", "nonlocal count", "y = x.sum()", "v = s.w[1]", "z = x", "t = 0",
            f"a = {r.choice(READS)}.item()", f"b = {r.choice(READS)}.item()", f"c = {r.choice(NUMBERS[:4])}"]
    looks, branches = r.choice((0.0, 0.0, 0.05, 0.15)), r.choice((0.0, 0.1, 0.3))
    kept = r.choice((0.0, 0.1, 0.3))
    for _ in range(r.randint(3, 12)):
        kind = r.random()
        if kind < looks:
            body.append(r.choice(LOOKS))
        elif kind < looks + branches:
            body.append(r.choice(BRANCHES))
        elif r.random() < kept:
            body.append(r.choice(KEPT))
        elif kind < 0.4:
            body.append(r.choice(TENSORS))
        elif kind < 0.5:
            body.append(f"{r.choice('abc')} = {r.choice(READS)}.item()")
        elif kind < 0.65:
            body.append(f"{r.choice('abc')} = {r.choice(NUMBERS)}")
        else:
            body.append(r.choice(STORES))
    results = ", ".join([*r.sample(RESULTS, r.randint(1, 4)), *([r.choice(HANDED)] if r.random() < kept * 2 else ())])
    function = "\n".join(["def builder(s):", "    count = 0", "    def step(x):",
                          *[f"        {line}" for line in body], f"        return {results},",
                          "    step.calls = 0", "    return step, lambda: count"])
    return f"{SETUP}\n{function}\n"


class World:
    """A function and its state. `keep` is a list that no code of the state reaches."""

    def __init__(self, torch: Any, source: str) -> None:
        self.scope: dict[str, Any] = {"torch": torch, "np": np, "math": math, "copy": copy, "OrderedDict": OrderedDict,
                                      "deque": deque, "G": 0, "keep": [], "__name__": "random_numbers"}
        for name in ("json", "pickle"):
            if f"{name}." in source:
                self.scope[name] = __import__(name)
        exec(compile(source, "<numbers>", "exec"), self.scope)
        self.state = self.scope["make"]()
        self.step, self.count = self.scope["builder"](self.state)
        self.call = self.step

    def all(self) -> Any:
        """All state, in a form that can be compared."""
        keep = [each() for each in self.scope["keep"]]
        own = getattr(self.scope["State"], "k", None)
        return shown([vars(self.state), self.scope["G"], self.count(), keep, own, self.step.calls], {})


def shown(value: Any, seen: dict[int, int]) -> Any:
    """A value with the exact types of all its parts, and which of them are the same object."""
    kind = type(value)
    if kind.__name__ == "Tensor":
        grad = shown(value.grad, seen) if value.is_leaf else ""
        return "Tensor", str(value.dtype), [*value.shape], repr(value.detach().double().tolist()), grad
    if kind in (int, float, bool, str, complex, type(None)):
        return kind.__name__, repr(value)
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, Number):
        return kind.__name__, str(value.dtype), repr(value.tolist())
    if id(value) in seen:
        return "seen", seen[id(value)]
    if kind is not tuple:
        seen[id(value)] = len(seen)
    if isinstance(value, dict):
        return kind.__name__, [(shown(key, seen), shown(part, seen)) for key, part in value.items()]
    if isinstance(value, (list, tuple, deque)):
        return kind.__name__, [shown(part, seen) for part in value]
    if hasattr(value, "__dict__"):
        return kind.__name__, shown(vars(value), seen)
    return kind.__name__, repr(value)


def inputs(r: random.Random) -> list[float]:
    """Numbers whose sums are exact, and some that are none."""
    pool = [r.choice((-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0, 0.0, -0.0)) for _ in range(3)]
    if r.random() < 0.1:
        pool[r.randrange(3)] = r.choice((math.inf, -math.inf, math.nan, 1e30))
    return pool


class Checked:
    """What a comparison found: the `difference`, "" if there is none, and whether the function stayed compiled."""

    def __init__(self, torch: Any, seed: int, backend: str, calls: int = 7) -> None:
        self.source, self.difference, self.fell_back = program(seed), "", ""
        r = random.Random(seed)
        eager, other = World(torch, self.source), World(torch, self.source)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            other.call = torch.compile(other.step, backend=backend)
            for call in range(calls):
                line = r.choice(BETWEEN) if r.random() < 0.2 else "pass"
                data = inputs(r)
                found = [_called(torch, world, line, data, call) for world in (eager, other)]
                if not alike(*found, exact=backend == "numpy"):
                    self.difference = f"call {call}, after {line!r}, of {data}:\n{found[0]}\n{found[1]}"
                    break
        for each in said:
            if "runs step as it is" in str(each.message):
                self.fell_back = str(each.message)
        del eager, other, found
        if not self.difference and any([issubclass(type(thing), Number) for thing in gc.get_objects()]):
            self.difference = "a stand-in for a number is still there"


def _called(torch: Any, world: World, line: str, data: list[float], seed: int) -> Any:
    torch.manual_seed(seed)
    exec(line, world.scope, {"s": world.state, "step": world.step})
    x, out = torch.tensor(data), io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            result = shown(world.call(x), {})
    except Exception as error:
        result = type(error).__name__, str(error), shown(error.args, {})
        error.__traceback__ = None
    return result, out.getvalue(), shown(x, {}), world.all(), torch.rand(2).tolist()


def alike(a: Any, b: Any, exact: bool) -> bool:
    """Whether two shown values are alike; unless `exact`, but for the rounding of floats."""
    if exact or a == b:
        return bool(a == b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(p, q, exact) for p, q in zip(a, b))
    return isinstance(a, str) and all(_near(p, q) for p, q in zip(_parts(a), _parts(b), strict=True))


def _parts(text: str) -> Iterator[str]:
    return iter(text.replace("[", " ").replace("]", " ").replace(",", " ").replace("(", " ").replace(")", " ").split())


def _near(a: str, b: str) -> bool:
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-6)
    except ValueError:
        return False
