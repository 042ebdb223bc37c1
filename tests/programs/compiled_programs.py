"""Random functions of tensors, to be run compiled and as they are: made from a seed, compared, shrunk.

A function has the arguments a, b, c and d, uses the captured tensors p, q, r and s, and is one statement a line. It is
run as it grows, so that each statement fits what is there; a statement that raises an error is left out.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from programs.random_functions import functions

ARGUMENTS, CAPTURED = "abcd", "pqrs"
_SMOOTH = ("{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} / (2 + {y} * {y})", "{x}.sin()", "{x}.tanh()", "{x}.sigmoid()",
           "({x} / 4).exp()", "{x} * {n}", "{n} - {x}", "-{x}", "{x} ** 2", "{x}.square()", "(1 + {x} * {x}).log()",
           "(1 + {x} * {x}).sqrt()", "{x}.sum()", "{x}.mean()", "{x}.sum({d})", "{x}.sum({d}, keepdim=True)",
           "{x}.mean({d})", "{x}.softmax({d})", "{x}.logsumexp({d})", "{x}.cumsum({d})", "{x} @ {y}",
           "torch.cat([{x}, {y}], {d})", "torch.stack([{x}, {x}])", "{x}.clone()", "{x}.detach()", "{x}.double()",
           "{x}.float()", "{x}.repeat(2, 1)", "{x}.flip({d})", "{x}.contiguous()", "{x}.index_select({d}, i)",
           "{x}[i]", "torch.zeros_like({x})", "torch.ones(3, 3)", "torch.full_like({x}, 1.5)", "torch.rand(3)",
           "torch.randn_like({x})", "F.dropout({x}, 0.5)", "F.linear({x}, q)", "F.mse_loss({x}, {y})",
           "F.gelu({x})", "F.softplus({x})", "F.silu({x})", "torch.lerp({x}, {y}, 0.25)", "{x}.var({d})",
           "torch.addmm({x}, q, q)", "{x}.to({y}.dtype)", "torch.einsum('ij,kj->ik', {x}, {y})", "{x}.norm()",
           "F.layer_norm({x}, (3,))", "model({x})", "torch.arange(3.) * {x}", "torch.eye(3) + {x}", "{x}.tril()",
           "torch.outer({x}.reshape(-1)[:3], {y}.reshape(-1)[:3])", "{x}.data", "torch.addcmul({x}, {y}, {z})",
           "{x}.new_zeros(3)", "{x}.new_full((3, 3), 2.)", "torch.tensor([1., 2., 3.])", "helper({x}, {y})",
           "Square.apply({x})", "Both.apply({x})[0]", "checkpoint(torch.sin, {x}, use_reentrant=False)",
           "torch.baddbmm({x}, {x}[None], {y}[None])", "{x}.prod({d})", "torch.linspace(0, 1, 3)")
_JUMPS = ("{x}.relu()", "{x}.abs()", "torch.maximum({x}, {y})", "torch.where({x} > {y}, {x}, {y})", "{x}.amax({d})",
          "{x}.max({d})[0]", "{x}.sort({d})[0]", "{x} > {y}", "({x} > 0) & ({y} < 1)", "{x}.masked_fill({x} > 0, 2.)",
          "{x}.clamp(-1, 1)", "{x}.argmax({d})", "({x} * 3).to(torch.int64)", "{x}.bool()", "~({x} > 0)", "{x}.sign()",
          "F.relu({x})", "{x}.gather({d}, ({x} > 0).long())", "({x} * 2).round()", "F.leaky_relu({x})",
          "F.cross_entropy(torch.stack([{x}.reshape(-1)[:3]] * 2), i)", "{x} // 0.5", "F.hardtanh({x})", "{x} % 1.5")
_VIEWS = ("{x}.t()", "{x}.mT", "{x}[1:]", "{x}[0]", "{x}[:, 1]", "{x}[..., ::2]", "{x}.reshape(-1)", "{x}.view(-1)",
          "{x}[None]", "{x}.unsqueeze(-1)", "{x}.squeeze()", "{x}.diagonal()", "{x}.expand(3, 3)", "{x}.select({d}, 0)",
          "{x}.chunk(2, {d})[0]", "{x}.unbind({d})[-1]", "{x}.view_as({x})", "{x}.flatten()", "{x}.movedim(0, -1)",
          "{x}.expand_as({y})", "{x}.detach()", "{x}.narrow({d}, 1, 2)", "{x}.as_strided((2,), (1,))", "{x}.real")
_WRITES = ("{x}.add_({y})", "{x}.mul_({y})", "{x}.copy_({y})", "{x}.zero_()", "{x}.fill_({n})", "{x}[0] = {y}",
           "{x}[:, 1] = {n}", "{x}[1:] *= 2", "{x} += {y}", "{x} -= 1", "{x}.sin_()", "{x}.tanh_()", "{x}[i] = {y}",
           "{x}.index_add_({d}, i, {x})", "{x}.normal_()", "{x}.uniform_(-1, 1)", "{x}.addcmul_({y}, {y})",
           "{x}.lerp_({y}, 0.5)", "{x}.clamp_(-1, 1)", "{x}.neg_()", "torch.add({x}, 2, out={x})", "{x}.data.add_(1)",
           "{x}.unsqueeze_(0)", "{x}.t_()", "{x}.masked_fill_(mask, 1.)", "{x}.sub_({y}, alpha=2)",
           "{x}.div_(2)", "{x}.relu_()", "{x}.dropout_(0.5)", "F.relu({x}, inplace=True)", "{x}.exponential_()")
_EFFECTS = ("{x}.sum().backward()", "({x} * {x}).mean().backward(retain_graph=True)", "({x} * {y}).sum().backward()",
            "{x}.backward({x}.detach())", "{p}.grad = None", "{p}.grad = {x}.detach()", "optimizer.zero_grad()",
            "optimizer.step()", "optimizer.zero_grad(set_to_none=False)", "{p}.grad.zero_()", "{p}.grad.mul_(0.5)",
            "with torch.no_grad(): {p}.sub_({x})", "with torch.no_grad(): {p} -= 0.1 * {p}.grad",
            "{x}.requires_grad_()", "{x}.detach_()", "{x}.retain_grad()", "{x}.register_hook(lambda g: g * 2)",
            "box['k'] = {x}", "box['n'] = [{x}, {y}]", "model.seen = {x}", "model[0].scale = {x}.detach()",
            "torch.nn.utils.clip_grad_norm_([p, q, r], 1.)", "{v}, = torch.autograd.grad({x}.sum(), {p})",
            "{v}, = torch.autograd.grad(({x} * {x}).sum(), {p}, create_graph=True)", "{v} = box['k']",
            "{v}, = torch.autograd.grad({x}.sum(), {y}, create_graph=True)", "{p}.data = {x}.detach().clone()",
            "{v} = {p}.grad", "torch.manual_seed(3)", "{v} = model.seen", "del box['k']")

HEAD = """
def helper(x, y):
    with torch.no_grad():
        z = x * 2
    return torch.where(z > y, x, y) + z

torch.manual_seed(1)
p = torch.randn(3, requires_grad=True)
q = torch.randn(3, 3, requires_grad=True)
r = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
s = torch.randn(3, 3)
i = torch.tensor([2, 0])
mask = torch.tensor([True, False, True])
box = {}
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.25))
model.seen = None
"""


OPTIMIZERS = ("SGD({}, lr=0.1)", "SGD({}, lr=0.1, momentum=0.9)", "Adam({})", "AdamW({}, amsgrad=True)",
              "RMSprop({}, foreach=False)", "Adagrad({})", "SGD({}, lr=0.1, nesterov=True, momentum=0.5)")
SPECS = ("normal(3, 3)",) * 6 + (
    "normal(3)", "normal(3)", "normal(3, 3).t()", "normal(2, 3)", "normal(3, 3, dtype=torch.float64)", "normal()",
    "normal(3, 3).requires_grad_()", "normal(3).requires_grad_()", "normal(6)[::2]", "normal(3, 1).expand(3, 3)",
    "normal(3, 3).mul(3).long()", "normal(3, 3) > 0", "normal(3, 3, dtype=torch.complex64)", "normal(0, 3)",
    "normal(3, 3).to(torch.float16)", "normal(3, 3).to(torch.bfloat16)", "normal(3, 3).t().requires_grad_()",
    "normal(9).reshape(3, 3)", "0.5", "2", "None", "a",
    "a[0] if a.ndim else a[...]", "a.t() if a.ndim < 3 else a[0]", "a.detach()", "normal(3, 3, 3)", "normal(4, 3, 3)")
LARGE = "normal(20000, 3)"


class Author:
    """Writes one program. `smooth` leaves out what jumps where a number changes in its last digit.

    `specs` are the arguments, which are drawn otherwise, and `more` are further statements. A class below may have
    another `start`, and statements of its own with their weight.
    """

    start = HEAD
    own: tuple[tuple[Sequence[str], int], ...] = ()

    def __init__(self, torch: Any, seed: int, smooth: bool, specs: Sequence[str] = (),
                 more: Sequence[str] = ()) -> None:
        self.draw = random.Random(seed)
        self.torch, self.smooth = torch, smooth
        draw = self.draw
        self.specs = [draw.choice(SPECS[:13])] + [draw.choice(SPECS) for _ in range(3)]
        self.large = draw.random() < 0.05 and not specs
        if self.large:
            self.specs[0] = LARGE
        self.specs, self.views = [*specs] or self.specs, (*_VIEWS, *more)
        self.head = self.start + f"optimizer = torch.optim.{draw.choice(OPTIMIZERS)}\n".format(
            draw.choice(("[p, q]", "[p, q, r]", "[q, *model.parameters()]")))
        self.space = space(torch, self.head)
        self.space.update(arguments(torch, self.specs, 0))
        self.lines: list[str] = []
        kinds = [(_SMOOTH, 10), (self.views, 4), (_WRITES, 4), (_EFFECTS, draw.choice((1, 4))), *self.own]
        self.kinds = kinds if smooth else [*kinds, (_JUMPS, 4)]
        for _ in range(draw.choice((4, 8, 16, 30))):
            self.statement()
        names = self.names()
        chosen = [draw.choice(names[-6:]) for _ in range(draw.choice((1, 1, 2, 3)))]
        forms = (", ".join(chosen), f"[{', '.join(chosen)}]", "{" + ", ".join([f"'{n}': {n}" for n in chosen]) + "}",
                 f"({chosen[0]}, 3, [box.get('k')], 'text')")
        self.lines.append(f"return {draw.choice(forms[:1] * 4 + forms)}")

    def names(self) -> list[str]:
        return [name for name, value in self.space.items() if isinstance(value, self.torch.Tensor)
                and name not in ("i", "mask")]

    def pick(self) -> str:
        names = self.names()
        return self.draw.choice(names[-4:] if self.draw.random() < 0.6 else names)

    def statement(self) -> None:
        """Add one statement that can run."""
        for _ in range(20):
            group, = self.draw.choices([group for group, _ in self.kinds], [weight for _, weight in self.kinds])
            template = self.draw.choice(group)
            v = f"v{len(self.lines)}"
            text = template.format(x=self.pick(), y=self.pick(), z=self.pick(), d=self.draw.choice((0, 0, 1, -1)), v=v,
                                   n=self.draw.choice((2, 0.5, 3.0, -1)), p=self.draw.choice("pqr"))
            if group in (_SMOOTH, _JUMPS, self.views):
                text = f"{v} = {text}"
            if self.draw.random() < 0.05 and not text.startswith("with"):
                text = f"with torch.no_grad(): {text}"
            if not self.runs(text):
                continue
            value = self.space.get(v)
            if isinstance(value, self.torch.Tensor) and value.numel() > (10**6 if self.large else 2000):
                del self.space[v]
                continue
            self.lines.append(text)
            return

    def runs(self, text: str) -> bool:
        """Run a statement. Returns whether it raises no error."""
        try:
            with warnings.catch_warnings(action="ignore"):
                exec(text, self.space)
        except Exception:
            return False
        return True


def space(torch: Any, head: str) -> dict[str, Any]:
    """The names that a program uses besides its arguments."""
    made: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "checkpoint": torch.utils.checkpoint.checkpoint}
    made.update({name: function for name, function in functions(torch).items() if name in ("Square", "Both")})
    exec(head, made)
    return made


def arguments(torch: Any, specs: Sequence[str], call: int, sizes: Sequence[int] = (4, 6)) -> dict[str, Any]:
    """The arguments of one call. `sizes` are the n and the m in their shapes."""
    numbers = np.random.default_rng(call)

    def normal(*shape: int, dtype: Any = torch.float32) -> Any:
        return torch.tensor(numbers.normal(size=shape).tolist(), dtype=dtype) if all(shape) else (
            torch.empty(shape, dtype=dtype))

    made: dict[str, Any] = {}
    for name, spec in zip(ARGUMENTS, specs, strict=True):
        made[name] = eval(spec, {"torch": torch, "normal": normal, **dict(zip("nm", sizes)), **made})
    return made


def source(lines: Sequence[str]) -> str:
    """The text of the function."""
    return "\n    ".join([f"def program({', '.join(ARGUMENTS)}):", f"global {', '.join(CAPTURED)}", *lines])


class World:
    """A program with all that it uses, and what one sees of it after each call."""

    def __init__(self, torch: Any, head: str, lines: Sequence[str], specs: Sequence[str],
                 change: Callable[[Any], Any] = lambda function: function) -> None:
        self.torch, self.specs = torch, specs
        self.space = space(torch, head)
        exec(source(lines), self.space)
        self.function = change(self.space["program"])
        self.results: list[Any] = []
        self.given: list[Any] = []
        self.stream = torch.get_rng_state()

    def call(self, number: int, sizes: Sequence[int] = (4, 6)) -> dict[str, Any]:
        """Call the program, and look at everything."""
        torch = self.torch
        given = arguments(torch, self.specs, number, sizes)
        versions = [t._version for t in self.tensors(given)]
        torch.set_rng_state(self.stream)
        try:
            with warnings.catch_warnings(action="ignore"):
                result = self.function(*given.values())
        except Exception as error:
            result = f"{type(error).__name__}: {str(error)[:60]}"
        self.stream = torch.get_rng_state()
        self.results.append(result)
        self.given.append(given)
        return {**self.seen(given, result),
                "written": [t._version != v for t, v in zip(self.tensors(given), versions, strict=True)]}

    def tensors(self, given: dict[str, Any]) -> list[Any]:
        """The tensors whose writes are counted."""
        names = {**given, **{name: self.space[name] for name in CAPTURED}}
        return [t for t in names.values() if isinstance(t, self.torch.Tensor)]

    def seen(self, given: dict[str, Any], result: Any) -> dict[str, Any]:
        """All that can be seen after a call."""
        space, model = self.space, self.space["model"]
        named = {"result": result, **given, **{name: space[name] for name in CAPTURED}, "box": space["box"],
                 "model": model.state_dict(keep_vars=True), "seen": model.seen,
                 "scale": getattr(model[0], "scale", None),
                 "optimizer": [*space["optimizer"].state.values()]}
        flat = [(name, leaf) for name, value in named.items() for leaf in leaves(value)]
        tensors = [leaf for _, leaf in flat if isinstance(leaf, self.torch.Tensor)]
        return {"flat": [(name, shown(leaf, self.torch)) for name, leaf in flat],
                "same": [[t is u for t in tensors].index(True) for u in tensors],
                "shared": [np.may_share_memory(t._array, u._array) for t in tensors for u in tensors],
                "stream": self.stream.numpy().tobytes()}

    def held(self, given: dict[str, Any]) -> list[Any]:
        """The leaves among the arguments and the captured tensors."""
        found = []
        for tensor in leaves([given, self.space["model"].state_dict(keep_vars=True), *map(self.space.get, CAPTURED)]):
            with suppress(RuntimeError):                   # of a stale view
                if isinstance(tensor, self.torch.Tensor) and tensor.is_leaf:
                    found.append(tensor)
        return found

    def backward(self, number: int) -> dict[str, Any]:
        """Differentiate the results of a call, and look at everything."""
        torch, result, given = self.torch, self.results[number], self.given[number]
        said = ""
        try:
            roots = [t for t in leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad and not t.is_leaf]
            if roots:
                torch.autograd.backward([(t * t.detach()).sum() for t in roots])
        except RuntimeError as error:
            said = str(error)[:40]
        if said:                                           # how far the pass came is not compared, here and later
            for tensor in self.held(given):
                tensor.grad = None
            return {"said": said}
        return {"said": said, **self.seen(given, result)}


def leaves(value: Any) -> list[Any]:
    """The parts of a value that are no containers."""
    if isinstance(value, dict):
        return [part for key in value for part in leaves(value[key])]
    return [part for item in value for part in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def shown(value: Any, torch: Any) -> Any:
    """A tensor as its array, its gradient and its marks; other values as they are."""
    if not isinstance(value, torch.Tensor):
        return value
    try:
        _ = value.is_leaf
    except RuntimeError as error:                          # of a stale view
        return str(error)[:40]
    grad = value.grad if value.is_leaf or value.retains_grad else None
    array = value._array
    strides = [step for step, size in zip(value.stride(), value.shape) if size != 1]
    return (array.copy(), value.dtype, strides, value.requires_grad, value.is_leaf, value._is_view(),
            type(value), type(array), None if grad is None else shown(grad, torch))


def different(one: Any, other: Any, near: float, place: str = "") -> str:
    """Where two observations differ; "" if they agree. Numbers may differ by `near` times the largest."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return "" if _alike(one, other, near) else f"{place}: {one} {one.dtype} and {other} {other.dtype}"
    if type(one) is not type(other):
        return f"{place}: {one} and {other}"
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return f"{place}: keys {[*one]} and {[*other]}"
        return next(filter(None, [different(one[k], other[k], near, f"{place} {k}") for k in one]), "")
    if isinstance(one, (list, tuple)):
        if len(one) != len(other):
            return f"{place}: {one} and {other}"
        found = [different(a, b, near, f"{place} {i}") for i, (a, b) in enumerate(zip(one, other))]
        return next(filter(None, found), "")
    return "" if one is other or one == other or one != one else f"{place}: {one} and {other}"


def _alike(one: Any, other: Any, near: float) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind == "V":                              # bfloat16
        one, other, near = one.astype(np.float32), other.astype(np.float32), near and 1e6
    if not near or one.dtype.kind in "biu":
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    finite = np.isfinite(one)
    scale = float(np.abs(one[finite]).max(initial=1.0))
    step = max(np.finfo(one.dtype).eps, np.finfo(np.float32).eps) * near * scale      # of what was computed in between
    if scale > 1e30:
        return True
    return bool((finite == np.isfinite(other)).all() and (np.abs(one[finite] - other[finite]) <= step).all())


class Outcome:
    """What a comparison found: `difference` is "" if all is alike; `reason` says why nothing was compiled."""

    def __init__(self, difference: str, reason: Any) -> None:
        self.difference, self.reason = difference, reason


def compared(torch: Any, head: str, lines: Sequence[str], specs: Sequence[str], near: float, late: bool) -> Outcome:
    """Run a program as it is and compiled, three times each. With `late`, all backward passes follow all calls."""
    plain = World(torch, head, lines, specs)
    compiled = World(torch, head, lines, specs, torch.compile)
    made = compiled.function.__closure__
    found = ""
    order = [("call", 0), ("call", 1), ("call", 2)] + [("backward", n) for n in range(3)] if late else [
        (what, n) for n in range(3) for what in ("call", "backward")]
    for what, number in order:
        seen = [getattr(world, what)(number) for world in (plain, compiled)]
        if what == "backward" and seen[0]["said"].startswith("one of the variables") and not seen[1]["said"]:
            break                                          # the compiled program may have saved another tensor
        found = found or different(*seen, near or (16 if what == "backward" else 0), f"{what} {number}")
        if what == "backward" and not found:               # later calls begin with equal numbers
            for one, other in zip(*[world.held(world.given[number]) for world in (plain, compiled)], strict=True):
                if one.grad is not None and other.grad is not None and other.grad._array.flags.writeable:
                    other.grad._array[...] = one.grad._array
    run = next(cell.cell_contents for cell in made if hasattr(cell.cell_contents, "run")).run
    return Outcome(found, getattr(run, "reason", None))


def checked(torch: Any, seed: int, smooth: bool) -> tuple[Author, Outcome]:
    """Make the program of a seed, and compare."""
    author = Author(torch, seed, smooth)
    large = 1e3 if author.large else 0
    near = 1e4 if smooth else large
    return author, compared(torch, author.head, author.lines, author.specs, near, seed % 3 == 0)


def shrunk(torch: Any, author: Author, seed: int, smooth: bool) -> list[str]:
    """The lines without those that do not matter to the difference."""
    lines, near = [*author.lines], 1e4 if smooth else 1e3 if author.large else 0
    place = 0
    while place < len(lines):
        fewer = lines[:place] + lines[place + 1:]
        try:
            found = fewer and compared(torch, author.head, fewer, author.specs, near, seed % 3 == 0).difference
        except Exception:
            found = ""
        if found and "NameError" not in found and "UnboundLocal" not in found:
            lines = fewer
        else:
            place += 1
    return lines
