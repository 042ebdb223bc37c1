"""Random autograd programs: run step by step on two libraries, compared, and shrunk. See `random_programs`."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from programs.random_functions import functions

Step = str
Note = list[Any]
OBSERVE = "observe()"
# Ten times the largest difference of some thousand programs. Of their arrays 95 in 100 are alike to the last bit.
_TOLERANCE = {"float32": 2e-6, "float64": 6e-7}


class Machine:
    """Runs steps on one torch, and says what each did and what there is after it."""

    reads: tuple[tuple[str, Callable[[Any], Any]], ...]

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.notes: Note = []
        self.scope: dict[str, Any] = {"torch": torch, "note": self._note, "observe": lambda: None} | functions(torch)

    def tensors(self) -> dict[str, Any]:
        return {name: t for name, t in self.scope.items() if re.fullmatch(r"t\d+", name)
                and isinstance(t, self.torch.Tensor)}

    def step(self, step: Step) -> Note:
        """The error of a step, if any, and what hooks noted; of an observation, all that can be read."""
        self.notes = []
        mode = self.torch.is_grad_enabled()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.torch.set_grad_enabled(self.scope.get("_mode", True))
                exec(step, self.scope)
        except Exception as error:
            if isinstance(error, AttributeError):           # no gradient; PyTorch runs the root's hooks all the same
                self.notes.clear()
            self.notes.append(error)
        finally:
            self.scope["_mode"] = self.torch.is_grad_enabled()
            self.torch.set_grad_enabled(mode)
        if step == OBSERVE:
            self._observe()
        return self.notes

    def read(self, name: str, what: str, t: Any, value: Any) -> Any:
        """What is noted of what was read."""
        return value

    def _note(self, g: Any) -> Any:
        self.notes.append(("hook", _array(g), str(g.dtype), g.requires_grad))
        return g

    def _observe(self) -> None:
        names: dict[int, str] = {}
        for name, t in self.tensors().items():
            own = names.setdefault(id(t), name)
            if own != name:
                self.notes.append((name, "is", own))
                continue
            for what, read in self.reads:
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        self.notes.append((name, what, self.read(name, what, t, read(t))))
                except Exception as error:
                    self.notes.append(error)


def _array(tensor: Any) -> Any:
    return None if tensor is None else np.array(tensor.detach().numpy(force=True))


def _strides(t: Any) -> tuple[int, ...]:
    """The strides that say where something is."""
    return tuple(s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1) if t.numel() else ()


def _graph(node: Any, depth: int = 3) -> Any:
    """The names of a node and of those behind it."""
    if node is None:
        return None
    depth *= node.name() != "CloneBackward0"             # behind it there may be a gradient, made in another way
    links = [(_graph(link, depth - 1), index) for link, index in node.next_functions] if depth else []
    return [node.name().rpartition("::")[2], links]


READ: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("value", _array), ("dtype", lambda t: str(t.dtype)), ("shape", lambda t: tuple(t.shape)),
    ("requires_grad", lambda t: t.requires_grad), ("_version", lambda t: t._version),
    ("_is_view", lambda t: t._is_view()), ("is_leaf", lambda t: t.is_leaf), ("graph", lambda t: _graph(t.grad_fn)),
    ("output_nr", lambda t: t.output_nr), ("grad", lambda t: _array(t.grad)),
    ("grad requires grad", lambda t: t.grad is not None and t.grad.requires_grad),
    ("grad strides", lambda t: t.grad is not None and _strides(t.grad)),
    ("strides", _strides), ("storage_offset", lambda t: t.numel() and t.storage_offset()),
    ("is_contiguous", lambda t: t.is_contiguous()), ("retains_grad", lambda t: t.retains_grad),
    ("base", lambda t: t._base is not None and tuple(t._base.shape)))
Machine.reads = READ


def difference(torch: Any, ours: Any, steps: Sequence[Step], machine: type[Machine] = Machine,
               tolerance: Mapping[str, float] = _TOLERANCE,
               accepted: Callable[[Step, Any, Any], bool] = lambda step, theirs, ours: False) -> str | None:
    """Where a program first differs between two libraries; None where it is the same throughout."""
    left, right = machine(torch), machine(ours)
    for i, step in enumerate(steps):
        a, b = left.step(step), right.step(step)
        if any(re.search("has been detached in-place|INTERNAL ASSERT FAILED|please report an enhance", str(e))
               for e in a):
            return None                                      # PyTorch gives up, or has a fault of its own
        for x, y in zip(a, b, strict=False):
            if not _same(x, y, tolerance):
                if accepted(step, x, y):
                    return None
                return f"at step {i}, {step}:\n  torch: {_text(x)}\n  ours:  {_text(y)}"
        if a and re.search(r"Doubled\.apply|out=|fmod_|remainder_", step) and isinstance(a[-1], Exception):
            return None                                      # PyTorch leaves what it refuses to write half changed
        if len(a) != len(b):
            longer, place = a if len(a) > len(b) else b, min(len(a), len(b))
            if accepted(step, *[longer[place] if longer is notes else None for notes in (a, b)]):
                return None
            return f"at step {i}, {step}:\n  only {'torch' if longer is a else 'ours'}: {_text(longer[place])}"
    return None


def _text(note: Any) -> str:
    return f"{type(note).__name__}: {note}"[:700] if isinstance(note, Exception) else repr(note)[:700]


def _said(error: Exception) -> str:
    """The message, without addresses and frames of C++."""
    text = re.sub(r"0x[0-9a-f]+|\nException raised from .*", "", str(error).strip(), flags=re.DOTALL)
    # A stale one of several views: PyTorch speaks of the write at hand, or of the earlier one when it comes to it.
    text = text.replace("its base or another view of its base has been modified inplace", "is being modified inplace")
    text = re.sub(r"(in the tensor list but got|desired output type).*", r"\1", text,
                  flags=re.DOTALL)
    # Of what PyTorch composes, a part is named.
    text = re.sub(r"^\w+\(\): (?=functions with out=|Supports 1D)", "", text)
    return text.replace("retrograd", "torch").strip()


def _same(theirs: Any, ours: Any, tolerance: Mapping[str, float]) -> bool:
    if isinstance(theirs, Exception) and isinstance(ours, Exception):
        # A stale view, and something else that is wrong: either may be said first.
        stale = r"Output \d+ of|A view was created"
        if re.match(stale, _said(theirs)) or re.match(stale, _said(ours)):
            return isinstance(ours, (RuntimeError, IndexError))
        if type(theirs).__name__ != type(ours).__name__ and not isinstance(ours, type(theirs)):
            return False
        said = _said(theirs)
        if "grad can be implicitly created" in said and re.match(r"Output \d+ of", _said(ours)):
            return True                                      # a stale view, and no scalar: either may be said first
        # An unread view of a constant that a recorded write changed: PyTorch takes it for a leaf, and says so first.
        if said.startswith("a leaf Variable") and _said(ours).startswith("unsupported operation: some elements"):
            return True
        # Of a saved view that is one of several PyTorch finds that it is stale before it finds that it was written.
        if re.match(r"Output \d+ of", said) and _said(ours).startswith("one of the variables needed for gradient"):
            return True
        return _said(ours) == said
    if isinstance(theirs, np.ndarray) and isinstance(ours, np.ndarray):
        close = tolerance.get(theirs.dtype.name, 0.0)
        return theirs.shape == ours.shape and theirs.dtype == ours.dtype and np.allclose(
            ours, theirs, rtol=close, atol=close, equal_nan=True)
    if isinstance(theirs, tuple) and isinstance(ours, tuple):
        return len(theirs) == len(ours) and all(_same(x, y, tolerance) for x, y in zip(theirs, ours, strict=True))
    return type(theirs) is type(ours) and bool(theirs == ours)


def shrunk(torch: Any, ours: Any, steps: Sequence[Step], differs: Callable[..., str | None] = difference) -> list[Step]:
    """The program without the steps that its difference does not need."""
    kept, i = [*steps], len(steps) - 1
    while i >= 0:
        shorter = kept[:i] + kept[i + 1:]
        if differs(torch, ours, shorter):
            kept = shorter
        i -= 1
    return kept


def disagreement(torch: Any, ours: Any, seed: int, generate: Callable[[Any, int], list[Step]],
                 differs: Callable[..., str | None] = difference) -> str | None:
    """The shortest program of this seed that differs, and where; None where the whole of it is the same."""
    steps = generate(torch, seed)
    if differs(torch, ours, steps) is None:
        return None
    steps = shrunk(torch, ours, steps, differs)
    told = "\n".join(steps)
    return f"seed {seed}\n{told}\n{differs(torch, ours, steps)}"


def observed(program: str) -> list[Step]:
    """The lines of a program, with a look at everything after each."""
    return [step for line in program.strip().splitlines() for step in (line.strip(), OBSERVE)]
