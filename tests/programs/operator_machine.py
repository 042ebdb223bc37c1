"""Runs random programs of operators: `random_machine` with strides to see, entries of the table, and derivatives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from op_table.table import BY_NAME, RANDOM
from programs.random_machine import READ, Machine, Step, difference as difference_of

# Entries whose derivatives are PyTorch's, to second order, with PyTorch's nodes.
ENTRIES = [name for name, e in BY_NAME.items() if e not in RANDOM and "f" in e.kinds and "f" not in e.apart
           and not (e.first_only or e.other_nodes or e.once or e.refused)]
# Some times the largest difference of a thousand programs. Of their arrays 93 in 100 are alike to the last bit.
_CLOSE = {"float16": 4e-3, "float32": 2e-6, "float64": 3e-9, "complex64": 2e-6, "complex128": 3e-9}
# The same, of programs with numbers that are rounded to few digits on the way.
_COARSE = {"float16": 4e-3, "float32": 1e-4, "float64": 3e-6, "complex64": 3e-6, "complex128": 1e-6}


class OperatorMachine(Machine):
    """A machine whose programs call entries of the table and take derivatives of all kinds of numbers."""

    # Whether a gradient requires one is internal: it need not where the rule knows that it depends on nothing. So is
    # where in its memory a result begins.
    reads = tuple(read for read in READ if read[0] not in ("grad requires grad", "storage_offset"))

    def __init__(self, torch: Any) -> None:
        super().__init__(torch)
        self.first: dict[int, tuple[int, Any]] = {}
        self.scope |= {"entry": self._entry, "derivatives": self._derivatives, "notes": self._notes,
                       "np": np}
        torch.set_default_dtype(torch.float32)

    def _note(self, g: Any) -> Any:
        self.notes.append(("hook", np.array(g.detach().numpy(force=True)), str(g.dtype)))
        return g

    def _notes(self, results: Any) -> None:
        for result in [results] if isinstance(results, self.torch.Tensor) else results:
            self._note(result)

    def read(self, name: str, what: str, t: Any, value: Any) -> Any:
        """What is noted. Versions count from when a tensor is first seen: PyTorch's operators write within."""
        if what in ("requires_grad", "graph", "is_leaf") and not (t.is_floating_point() or t.is_complex()):
            return None                  # PyTorch makes ints require a gradient that something is written over
        if what != "_version":
            return value
        return value - self.first.setdefault(id(t), (value, t))[0]

    def look(self, text: str) -> Any:
        """The value of an expression, without a trace; None where it has none."""
        try:
            with self.torch.no_grad():
                return eval(text, dict(self.scope))
        except Exception:
            return None

    def _entry(self, name: str, sample: int, dtype: Any, tensors: Sequence[Any]) -> Any:
        """The last result of an entry, whose inputs are made of tensors, in the entry's domain."""
        entry = BY_NAME[name]
        shapes = entry.shapes[sample % len(entry.shapes)]
        given = [tensors[i % len(tensors)].to(dtype) for i in range(len(shapes))]
        inputs = [self._fitted(entry, shape, x, i) for i, (shape, x) in enumerate(zip(shapes, given, strict=True))]
        results = entry.call(self.torch, *inputs)
        last = results if isinstance(results, self.torch.Tensor) else [*results][-1]
        # Entries are compared call by call elsewhere. What was written and how it lies inside of them is internal.
        return last.clone(memory_format=self.torch.contiguous_format)

    def _fitted(self, entry: Any, shape: tuple[int, ...], x: Any, input: int) -> Any:
        count = int(np.prod(shape))
        index = self.torch.arange(count) * 3 % max(x.numel(), 1)
        phases = np.random.default_rng(count + 97 * input).uniform(0, 6.28, shape).tolist()
        waves = (x.reshape(-1)[index].reshape(shape) + self.torch.tensor(phases, dtype=x.dtype).reshape(shape)).sin()
        middle, half = (entry.low + entry.high) / 2, (entry.high - entry.low) / 2
        if not entry.distinct:
            return middle + 0.98 * half * waves
        order = np.random.default_rng(count).permutation(count)
        places = self.torch.tensor(order.reshape(shape).tolist(), dtype=x.dtype).reshape(shape)
        return entry.low + 2 * half * (places + 0.5 + 0.2 * waves + 0.1 * input) / (count + 1)

    def _derivatives(self, outputs: Sequence[Any], inputs: Sequence[Any], recorded: bool) -> list[Any]:
        """The gradients of a weighted sum of the outputs, each laid out anew, since how they lie is internal.

        Whether a gradient that depends on nothing requires one is internal too, so each is made to.
        """
        total = sum(self._weighed(y) for y in outputs)
        found = self.torch.autograd.grad(total, inputs, create_graph=recorded, retain_graph=True, allow_unused=True)
        link = 0 * total if recorded else 0
        followed = [self._or_zeros(g, x) + link for g, x in zip(found, inputs, strict=True)]
        return [g.clone(memory_format=self.torch.contiguous_format) for g in followed]

    def _or_zeros(self, g: Any, x: Any) -> Any:
        """Which way is known to lead nowhere is internal."""
        return self.torch.zeros_like(x) if g is None else g

    def _weighed(self, y: Any) -> Any:
        weights = self.torch.arange(1., y.numel() + 1, dtype=self.torch.float64).cos().reshape(y.shape)
        if y.is_complex():
            return (y.real.double() * weights - y.imag.double() * weights.sin()).sum()
        return (y.double() * weights).sum()


# What may be found first where more than one thing is wrong.
_ANY_ORDER = (r"not implemented for|can't be cast|leaf Variable|out=\.\.\. arguments|must be|same dtype|result dtype|"
              r"has no dimensions|invalid combination|Expected out|missing \d+ required|Autograd not support|"
              r"Expected tensor for|to match|only supports bool|automatic differentiation|"
              r"received a bool|expected scalar_type|is not implemented|Boolean alpha|0-dim")


# What PyTorch says where it has not thought of a gradient: of no derivative, of mixed dtypes.
_NO_GRADIENT = ("derivative for .* is not implemented|the graph a second time|Subtraction, the|Negation, the|"
                "must have the same dtype, but got|can't be cast to the desired output type")


def accepted(step: Step, theirs: Any, ours: Any) -> bool:
    """Whether a difference is one of those that are meant, after which the two go on apart."""
    if isinstance(theirs, Exception) and isinstance(ours, Exception):
        return any(re.search(_ANY_ORDER, str(e)) for e in (theirs, ours))
    # Without elements PyTorch does not come to the kernel that it does not have; of nothing, its max is -inf by `out=`.
    if theirs is None and isinstance(ours, Exception):
        return re.search("not implemented for|Expected reduction dim to be|expected scalar type", str(ours)) is not None
    if isinstance(theirs, Exception):
        if re.search("derivatives|backward|grad", step):
            # A pass keeps what PyTorch's rules name; what no rule of ours needs is neither kept nor missed.
            return re.search(f"{_NO_GRADIENT}|modified by an inplace operation", str(theirs)) is not None
        # What PyTorch has no kernel for is computed here all the same.
        return ours is None and isinstance(theirs, NotImplementedError) and "not implemented for" in str(theirs)
    # Gradients that PyTorch masks at special points are nan when they are differentiated again.
    pairs = [(a, b) for a, b in zip(_arrays(theirs), _arrays(ours), strict=False) if a.shape == b.shape]
    return any(bool((np.isnan(a) & ~np.isnan(b)).any()) for a, b in pairs)


def _arrays(note: Any) -> list[Any]:
    return [x for x in note if isinstance(x, np.ndarray)] if isinstance(note, tuple) else []


def difference(torch: Any, ours: Any, steps: Sequence[str]) -> str | None:
    coarse = any(word in step for step in steps for word in ("float32", "complex64", "float16", "int", "bool")) or any(
        "torch.tensor(" in step and "dtype" not in step for step in steps)      # numbers of the default dtype
    try:
        return difference_of(torch, ours, steps, OperatorMachine, _COARSE if coarse else _CLOSE, accepted)
    finally:
        for library in (torch, ours):
            library.set_default_dtype(library.float32)
