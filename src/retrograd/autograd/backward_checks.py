"""The checks of gradcheck on a backward pass itself: linearity, absent cotangents, and batches of cotangents.

`differences` has the finite differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import warn
from ..graph.node import OtherNode
from ..tensors.state.base import edge_of, plain, with_edge
from .backward import grad
from .comparison import Check, GradcheckError, requires_grad

_WHERE = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'


class UndefinedGrad(OtherNode):
    """An identity that passes on no gradient: the nodes before it get an absent gradient."""

    __slots__ = ()
    namespace = "torch::autograd::"

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        return [None]


def _cut(out: Any) -> Any:
    """The output, behind an `UndefinedGrad`."""
    array = out._array
    return with_edge(array, UndefinedGrad((edge_of(out),), array.shape, array.dtype))


def _zeros(outputs: list[Any]) -> list[Any]:
    return [plain(np.zeros(o._array.shape, o._array.dtype)) for o in outputs]


def check_linear(check: Check, outputs: list[Any]) -> None:
    """Raise GradcheckError if the backward returns a nonzero gradient for a cotangent of zeros."""
    for g in grad(outputs, check.differentiable, _zeros(outputs), allow_unused=True):
        if g is not None and np.any(g._array != 0):
            raise GradcheckError("backward not multiplied by grad_output")


def check_undefined(check: Check, count: int) -> None:
    """Raise GradcheckError if the backward fails, or returns a nonzero gradient, when cotangents are absent."""
    choices: list[range | list[int]] = [range(count)]
    if count > 1:
        choices += [[i] for i in range(count)]
    for absent in choices:
        outputs = [o for o in check.outputs() if requires_grad(o)]
        outputs = [_cut(o) if i in absent else o for i, o in enumerate(outputs)]
        try:
            found = grad(outputs, check.differentiable, _zeros(outputs), allow_unused=True)
        except RuntimeError as error:
            _warn()
            raise GradcheckError(f"Expected backward function to handle undefined output grads. {_WHERE}") from error
        if any(g is not None and np.any(g._array != 0) for g in found):
            _warn()
            raise GradcheckError("Expected all input grads to be undefined or zero when all output grads are undefined "
                                 f"or zero. {_WHERE}")


def _warn() -> None:
    warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature')


def check_batched_pass(check: Check, out: Any, number: int) -> None:
    """Raise GradcheckError if the gradients of a batch of cotangents differ from those of each cotangent alone."""
    stream = np.random.default_rng(0)
    batch = stream.uniform(-1, 1, (2, *out._array.shape)).astype(out._array.dtype)
    xs = check.differentiable
    together = grad(out, xs, plain(batch), retain_graph=True, allow_unused=True, is_grads_batched=True)
    for row in range(2):
        alone = grad(out, xs, plain(batch[row]), retain_graph=True, allow_unused=True)
        for j, (a, b) in enumerate(zip(together, alone)):
            if a is not None and not np.allclose(a._array[row], b._array):
                raise GradcheckError(f"For output {number} and input {j}:\n\ngradcheck or gradgradcheck failed while "
                                     "testing batched gradient computation.")
