"""The derivatives of a call in all modes, computed with a library, and how two libraries' derivatives are compared.

A call is a text, such as "t.norm(x, 1)": an expression with the library `t` and the tensors that `given` names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MODES = ("value", "vjp", "jvp", "vjp of vjp", "jvp of vjp", "vjp of jvp", "jvp of jvp", "vmap", "vmap of vjp",
         "vmap of jvp")


def _directions(t: Any, like: Sequence[Any], seed: int) -> list[Any]:
    """Numbers for tensors of these shapes and dtypes, the same in both libraries."""
    drawn = np.random.default_rng(seed)
    return [t.tensor(drawn.uniform(0.5, 1.5, tuple(x.shape)) * drawn.choice([-1, 1], tuple(x.shape))).to(x.dtype)
            for x in like]


def _differentiable(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


class Call:
    """A call with a library, as a function of the tensors that may have derivatives."""

    def __init__(self, t: Any, text: str, given: Mapping[str, Any], names: Sequence[str] | None = None) -> None:
        self.t, self.text = t, text
        self.given = {name: t.tensor(value) if isinstance(value, np.ndarray) else value(t) if callable(value) else value
                      for name, value in given.items()}
        self.names = [name for name, value in self.given.items()
                      if isinstance(value, t.Tensor) and _differentiable(value)] if names is None else list(names)
        self.inputs = [self.given[name] for name in self.names]

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        found = eval(self.text, {"t": self.t, "F": self.t.nn.functional, **self.given,
                                 **dict(zip(self.names, inputs, strict=True))})
        several = found if isinstance(found, (tuple, list)) else (found,)
        return tuple([out for out in several if isinstance(out, self.t.Tensor) and _differentiable(out)])

    def vjp(self, *inputs: Any) -> tuple[Any, ...]:
        outputs, pull = self.t.func.vjp(self, *inputs)
        return tuple(pull(tuple(_directions(self.t, outputs, 1))))

    def jvp(self, *inputs: Any) -> tuple[Any, ...]:
        return tuple(self.t.func.jvp(self, inputs, tuple(_directions(self.t, inputs, 2)))[1])

    def again(self, first: Callable[..., Any], mode: str) -> tuple[Any, ...]:
        """The derivative of a derivative."""
        if mode == "vjp":
            outputs, pull = self.t.func.vjp(first, *self.inputs)
            return tuple(pull(tuple(_directions(self.t, outputs, 3))))
        return tuple(self.t.func.jvp(first, tuple(self.inputs), tuple(_directions(self.t, self.inputs, 4)))[1])

    def batch(self, of: Callable[..., Any]) -> tuple[Any, ...]:
        """The results for a batch of two samples, which lie along the last dim. The second sample is the reverse."""
        stacked = [self.t.stack([x, x.flip([*range(x.ndim)])], -1) for x in self.inputs]
        return tuple(self.t.vmap(of, in_dims=-1)(*stacked))

    def derivative(self, mode: str) -> tuple[Any, ...]:
        ways: dict[str, Callable[..., Any]] = {"value": self, "vjp": self.vjp, "jvp": self.jvp}
        if mode in ways:
            return tuple(ways[mode](*self.inputs))
        if mode == "vmap":
            return self.batch(self)
        outer, _, inner = mode.partition(" of ")
        return self.batch(ways[inner]) if outer == "vmap" else self.again(ways[inner], outer)


def outcome(t: Any, text: str, given: Mapping[str, Any], mode: str, names: Sequence[str] | None = None) -> Any:
    """The arrays that a mode gives; or the error, as its type and the first line of its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call = Call(t, text, given, names)
            return [x.detach().resolve_conj().resolve_neg().numpy() for x in call.derivative(mode)]
        except Exception as error:
            return type(error).__name__, str(error).split("\n")[0]


def alike(theirs: Any, ours: Any) -> bool:
    """Whether two outcomes are the same numbers up to the digits of their types, or the same errors."""
    if isinstance(theirs, tuple) or isinstance(ours, tuple):
        return bool(theirs == ours)
    return len(theirs) == len(ours) and all(_close(a, b) for a, b in zip(theirs, ours, strict=True))


def _close(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    tolerance = 1e-7 if a.dtype in (np.float64, np.complex128) else 1e-3 if a.dtype == np.float16 else 3e-5
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True))
