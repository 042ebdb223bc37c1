"""gradcheck of forward mode: tangents against finite differences, and batches of tangents against single ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import noted
from ..foundations.modes import kept_switches
from ..kernels.random.twister import Twister
from ..ops.creation import complex_
from ..tensors.functions.creation.creation import zeros_like
from ..tensors.recording.calls import CALLS
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor
from ..tensors.transforms.batching import BatchOfPasses
from ..tensors.transforms.crossing import enter_batch, entered, leave_batch
from .blocks import detached
from .comparison import Check, GradcheckError, agree, mismatch, projected, requires_grad, unit_vector, worst
from .differences import as_tuple, directional, is_float, matrices
from .forward_ad import dual_level, make_dual, unpack_dual
from .gradcheck_texts import BATCHED_FORWARD

FORWARD = "Jacobian computed with forward mode mismatch"


def compare_forward(check: Check, places: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> None:
    """Compare the tangents of the outputs at `places` (among those of floating point) with finite differences."""
    stream = Twister()
    directions = [unit_vector(stream, x._array).reshape(x._array.shape) for x in check.differentiable]
    pushed = [_pushed(check, x, plain(u.astype(x._array.dtype))) if check.fast else []
              for x, u in zip(check.differentiable, directions)]
    for i, place in enumerate(places):
        for j, x in enumerate(check.differentiable):
            if check.fast:
                _compare_projections(check, x, i, j, place, shapes[i], directions[j], pushed[j][place])
            else:
                a, n = _columns(check, x, place), matrices(check.func, check.inputs, x, check.eps)[place]
                if not agree(a, n, check.rtol, check.atol):
                    raise mismatch(check, a, n, i, j, worst(check, a, n, shapes[i], j), what=FORWARD)


def _columns(check: Check, x: Tensor, place: int) -> Array:
    """The Jacobian of one output by an input, from a forward pass for each element of the input."""
    rows = []
    for row in range(x._array.size):
        direction = np.zeros(x._array.shape, x._array.dtype)
        direction.reshape(-1)[row] = 1
        rows.append(_pushed(check, x, plain(direction))[place]._array.reshape(-1))
    return np.stack(rows) if rows else matrices(check.func, check.inputs, x, check.eps)[place]


def _compare_projections(check: Check, x: Tensor, i: int, j: int, place: int, shape: tuple[int, ...], u: Array,
                         tangent: Tensor) -> None:
    """Compare J u for a random vector u. `tangent` is the J u that forward mode found."""
    n = directional(check.func, check.inputs, x, u, check.eps)[place]
    a = tangent._array.reshape(-1)
    allowed = check.atol * float(np.sum(u))
    if not agree(a, n, check.rtol, allowed):
        raise projected(check, a, n, i, j, allowed, shape, FORWARD, lambda: (
            _columns(check, x, place), matrices(check.func, check.inputs, x, check.eps)[place]))


def _pushed(check: Check, x: Tensor, tangent: Tensor) -> list[Any]:
    """The tangents of the floating-point outputs, along a tangent of one input."""
    with dual_level():
        duals = [_dual(each, tangent if each is x else None) for each in check.inputs]
        outputs = [out for out in as_tuple(check.func(*duals)) if is_float(out)]
        tangents = [unpack_dual(out).tangent for out in outputs]
        return [zeros_like(out) if t is None else t for t, out in zip(tangents, outputs)]


def _dual(value: Any, tangent: Tensor | None) -> Any:
    """An input with a tangent, zero if it is None. An input that is not checked, and a number, stay as they are."""
    if not requires_grad(value):
        return value
    alone = detached(value)
    return make_dual(alone, zeros_like(alone) if tangent is None else tangent)


def check_batched_tangents(check: Check) -> None:
    """Raise GradcheckError if the tangents of a batch of directions differ from those of each direction alone."""
    stream = np.random.default_rng(0)
    for j, x in enumerate(check.differentiable):
        rows = stream.uniform(-1, 1, (2, *x._array.shape)).astype(x._array.dtype)
        level = BatchOfPasses(2)
        try:
            with kept_switches(), entered(level):
                batch = _pushed(check, x, enter_batch(level, plain(rows), 0))
        except RuntimeError as error:
            raise noted(
                GradcheckError(f"While computing batched gradients, got: {error}\n\n{BATCHED_FORWARD}"),
                "gradcheck#batched-forward-gradients") from error
        together = [leave_batch(level, tangent, 0)._array for tangent in batch]
        for k, row in enumerate(rows):
            for i, (a, b) in enumerate(zip(together, _pushed(check, x, plain(row)), strict=True)):
                if not np.allclose(a[k], b._array):
                    raise GradcheckError(f"For output {i} and input {j}:\n\n{BATCHED_FORWARD}")


def of_real_inputs(check: Check, part: str) -> Check:
    """The check of the function of only the real, or only the imaginary parts of its complex inputs."""
    inputs = [_moving(x, part) for x in check.inputs]

    def func(*given: Any) -> Any:
        return check.func(*[_complex(new, x, part) for new, x in zip(given, check.inputs, strict=True)])

    complex_inputs = frozenset(j for j, x in enumerate(check.differentiable) if x._array.dtype.kind == "c")
    return check._replace(func=func, inputs=tuple(inputs), part=part, complex_inputs=complex_inputs)


def _moving(x: Tensor, part: str) -> Any:
    if not (requires_grad(x) and x._array.dtype.kind == "c"):
        return x
    array = x._array.real if part == "real" else x._array.imag
    return plain(np.array(array)).requires_grad_()


def _complex(new: Tensor, x: Tensor, part: str) -> Any:
    """The input with one of its parts replaced."""
    if not (requires_grad(x) and x._array.dtype.kind == "c"):
        return new
    fixed = plain(np.array(x._array.imag if part == "real" else x._array.real))
    make: Callable[..., Any] = CALLS[complex_]
    return make(new, fixed) if part == "real" else make(fixed, new)
