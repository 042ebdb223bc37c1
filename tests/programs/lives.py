"""Random lives of a trained model: steps, and between them all that a program may do to the model and its optimizer.

A life is text. It is run as it is and compiled, or with PyTorch, and must show the same at each call: the result, the
gradients, the parameters, buffers and modes of the model, the state of the optimizer, the random stream, and each
error.
"""

from __future__ import annotations

import copy
import gc
import importlib
import io
import random
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from programs.life_parts import BLOCKS, EVENTS, HEAD, OPTIMIZERS, STEADY, STEPS, USES
from programs.number_programs import alike, shown


class Life(NamedTuple):
    """The text of a life: what is made, and for each call what happens before it and how the step is called."""

    head: str
    calls: tuple[tuple[tuple[tuple[str, int], ...], str], ...]

    def text(self) -> str:
        """The whole as a program."""
        lines = [self.head]
        for n, (events, use) in enumerate(self.calls):
            lines += [f"# call {n}", *[f"PICK = {pick}; {event}" for event, pick in events], use]
        return "\n".join(lines)


def life(seed: int, count: int = 9, steady: bool = False) -> Life:
    """The life of this seed, with so many calls. If `steady`, its results do not hang on the last bits."""
    r = random.Random(seed)
    blocks = [r.choice(BLOCKS) for _ in range(r.randint(1, 4))]
    step, optimizer = r.choice(STEPS), r.choice(STEADY if steady else OPTIMIZERS).format(p="model.parameters()")
    head = (f"{'torch.set_default_dtype(torch.float64)' if steady else ''}\n"
            f"model = nn.Sequential(nn.Linear(6, 6), {', '.join(blocks)})\n"
            f"MAKE = lambda: torch.optim.{optimizer}\noptimizer = MAKE()\n{step}\n"
            "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)")
    weights, uses = zip(*USES)
    calls = []
    for _ in range(count):
        happened = tuple([(r.choice(EVENTS), r.randrange(100)) for _ in range(r.choice((0, 0, 0, 1, 1, 2)))])
        calls.append((happened, r.choices(uses, weights)[0]))
    return Life(head, tuple(calls))


Seen = list[dict[str, Any]]


class Compared(NamedTuple):
    """How a life differs if its step is compiled, "" if it does not, and why calls ran as they are."""

    difference: str
    reasons: list[str]


def compared(torch: Any, life: Life, backend: str) -> Compared:
    """The life as it is and with a compiled step, compared."""
    reasons: list[str] = []
    return Compared(difference(*[_lived(torch, life, b, reasons) for b in (None, backend)], "nodes"), reasons)


def compared_with(pytorch: Any, torch: Any, life: Life) -> str:
    """How the life differs in another package; "" if it does not. PyTorch counts the sums of gradients as writes."""
    return difference(*[_lived(library, life, None, []) for library in (pytorch, torch)], "versions")


def difference(first: Seen, second: Seen, leaving_out: str) -> str:
    """The first difference between two lives, "" if there is none. What has this name is left out."""
    for n, (one, other) in enumerate(zip(first, second, strict=True)):
        for name in one:
            if name != leaving_out and not alike(one[name], other[name], exact=False):
                return f"call {n}, {name}:\n  {one[name]}\n  {other[name]}"
    return ""


def _lived(torch: Any, life: Life, backend: str | None, reasons: list[str]) -> Seen:
    """What shows after each call."""
    found = []
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            scope = _made(torch, life, backend)
            for events, use in life.calls:
                errors = []
                scope["out"] = None
                for text, pick in [*events, (f"x, y = torch.randn(8, 6), torch.randn(8, 6)\n{use}", 0)]:
                    scope["PICK"] = pick
                    try:
                        exec(text, scope)
                    except Exception as error:
                        errors.append((type(error).__name__, str(error)))
                found.append({"errors": errors, **_state(scope)})
    finally:
        torch.set_default_dtype(torch.float32)
    reasons += [str(each.message) for each in said if "as it is" in str(each.message)]
    return found


def _made(torch: Any, life: Life, backend: str | None) -> dict[str, Any]:
    """The names of a life, after its head has run."""
    scope: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "copy": copy, "gc": gc, "io": io,
                             "types": types, "prune": importlib.import_module(f"{torch.__name__}.nn.utils.prune"),
                             "__name__": "random_life", "PICK": 0}

    def again() -> Any:
        step = scope["model"] if "step = model" in life.head else scope["step"]
        made = step if backend is None else torch.compile(step, backend=backend)
        return made if step is not scope["model"] else lambda x, y: made(x)

    def lossy(out: Any) -> None:
        if isinstance(out, torch.Tensor) and out.requires_grad:
            out.square().sum().backward()

    def threaded(x: Any, y: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: scope["run"](x, y)).result()

    exec(HEAD, scope)
    exec(life.head, scope)
    scope.update(AGAIN=again, lossy=lossy, threaded=threaded, run=again())
    return scope


def _state(scope: dict[str, Any]) -> dict[str, Any]:
    model, torch = scope["model"], scope["torch"]
    out = scope["out"]
    outs = out if isinstance(out, (tuple, list)) else [out]
    tensors = [each for each in outs if isinstance(each, torch.Tensor)]
    return {
        "out": shown([_plain(o) for o in outs], {}),
        "graph": [(o.requires_grad, o.grad_fn is None, o.is_leaf, str(o.dtype), o.stride()) for o in tensors],
        "versions": [o.is_inference() or o._version for o in tensors],
        "nodes": [o.grad_fn and o.grad_fn.name() for o in tensors],
        "parameters": shown({n: (_plain(p), _plain(p.grad), p.requires_grad) for n, p in model.named_parameters()}, {}),
        "buffers": shown({n: _plain(b) for n, b in model.named_buffers()}, {}),
        "modules": [(n, m.training, type(m).__name__, getattr(m, "count", None)) for n, m in model.named_modules()],
        "optimizer": shown(_plain(scope["optimizer"].state_dict()), {}), "seen": shown(_plain(scope["seen"]), {}),
        "kept": shown(_plain(scope["kept"]), {}), "random": torch.get_rng_state().numpy().tobytes()}


def _plain(value: Any) -> Any:
    """The value, with what is not part of a graph in place of each tensor."""
    if hasattr(value, "detach"):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
