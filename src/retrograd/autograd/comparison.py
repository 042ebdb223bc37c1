"""Compare two Jacobians of a function: from its backward passes, and from finite differences.

An error has PyTorch's words first, then the element with the greatest difference, and the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import noted
from ..kernels.random.distributions import uniform
from ..kernels.random.twister import Twister
from ..tensors.state.base import TensorBase, plain, requires
from ..tensors.state.inside import is_sparse
from .backward import grad
from .differences import as_tuple, directional, is_float, matrices
from .gradcheck_texts import NOT_REENTRANT, SMALL_ALL_THE_SAME


class GradcheckError(RuntimeError):
    """A derivative is wrong, or a function cannot be checked. `gradcheck` and `gradgradcheck` raise this error.

    If two Jacobians differ, `excess` is how many times greater the difference is than what is allowed, and `entry` says
    where they differ most.
    """

    __module__ = "retrograd.autograd.gradcheck"         # users catch it under this name
    excess: float = np.inf
    entry: str = ""


MISMATCH = "Jacobian mismatch"


class Check(NamedTuple):
    """A function to check, its inputs, the options, and the compared part of complex outputs."""

    func: Callable
    inputs: tuple[Any, ...]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    fast: bool
    part: str = ""
    complex_outputs: frozenset[int] = frozenset()
    complex_inputs: frozenset[int] = frozenset()
    brief: bool = False                     # whether fast mode leaves out the Jacobians element by element

    @property
    def differentiable(self) -> list[Any]:
        """The inputs that require grad."""
        return [x for x in self.inputs if requires_grad(x)]

    def outputs(self) -> tuple[Any, ...]:
        """The outputs of the function as a tuple. Raises ValueError for a sparse output."""
        found = as_tuple(self.func(*self.inputs))
        if any(map(is_sparse, found)):
            raise noted(
                ValueError("Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on "
                           "the output of fn for gradcheck."), "gradcheck#sparse-output")
        return found


def requires_grad(value: Any) -> bool:
    """Whether the value is a tensor that requires grad."""
    return isinstance(value, TensorBase) and requires(value)


def compare(check: Check, returned: tuple[Any, ...]) -> None:
    """Compare the gradients of the outputs by every input with finite differences."""
    outputs = [o for o in returned if requires_grad(o)]
    # Finite differences cover all floating-point outputs; only outputs that require grad are compared.
    places = [i for i, o in enumerate(filter(is_float, returned)) if requires_grad(o)]
    if check.fast and outputs:
        _compare_projections(check, outputs, places)
        return
    numerical = [matrices(check.func, check.inputs, x, check.eps) for x in check.differentiable]
    if not outputs:
        if any(np.any(matrix != 0) for by_output in numerical for matrix in by_output):
            raise noted(
                GradcheckError("Numerical gradient for function expected to be zero"),
                "gradcheck#gradient-expected-zero")
        return
    for i, out in enumerate(outputs):
        analytical = _analytical(check, out)
        for j, a in enumerate(analytical):
            n = numerical[j][places[i]]
            if not agree(a, n, check.rtol, check.atol):
                raise mismatch(check, a, n, i, j, worst(check, a, n, out._array.shape, j))


def _analytical(check: Check, out: TensorBase) -> list[Array]:
    """The Jacobian of one output by every input, from backward passes; rows as in `matrices`. It is computed twice."""
    xs = check.differentiable
    passes = []
    for _ in range(2):
        blocks = [np.zeros((x._array.size, out._array.size), x._array.dtype) for x in xs]
        for column in range(out._array.size):
            cotangent = np.zeros(out._array.shape, out._array.dtype)
            cotangent.reshape(-1)[column] = 1
            for block, g in zip(blocks, _pulled_back(out, xs, cotangent)):
                block[:, column] = g
        passes.append(blocks)
    _check_repeats(check, *passes)
    return passes[0]


def _pulled_back(out: TensorBase, xs: list[Any], cotangent: Array) -> list[Any]:
    """The product of a cotangent of one output with its Jacobian, by every input, as a row; 0 for no gradient."""
    found = grad(out, xs, plain(cotangent), retain_graph=True, allow_unused=True)
    return [0 if g is None else g._array.reshape(-1) for g in found]


def _check_repeats(check: Check, first: list[Array], second: list[Array]) -> None:
    """Raise GradcheckError if the backward gives different gradients for the same cotangent."""
    for a, b in zip(first, second):
        if a.size and np.max(np.abs(a - b)) > check.nondet_tol:
            raise noted(
                GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output "
                               "multiple times gives different values, although analytical gradient matches "
                               f"numerical gradient.The tolerance for nondeterminism was {check.nondet_tol}."
                               + NOT_REENTRANT), "gradcheck#not-reentrant",
                given=f"the largest difference is {np.max(np.abs(a - b))}")


def agree(a: Any, n: Any, rtol: float, atol: float) -> bool:
    """Whether every element of `a` is within tolerance of `n`. A nan never is."""
    with np.errstate(all="ignore"):
        return bool(np.all((a == n) | (np.abs(a - n) <= atol + rtol * np.abs(n))))


def disagreement(check: Check, a: Any, n: Any, i: int, j: int, what: str = MISMATCH) -> str:
    """PyTorch's words for the Jacobians of output i by input j, counted among the differentiable outputs and inputs."""
    of_what = "outputs" if i in check.complex_outputs else "inputs" if j in check.complex_inputs else ""
    part = f"While considering the {check.part} part of complex {of_what} only, " if of_what else ""
    return (f"{part}{what} for output {i} with respect to input {j},\n"
            f"numerical:{plain(np.asarray(n))}\nanalytical:{plain(np.asarray(a))}\n")


def mismatch(check: Check, a: Any, n: Any, i: int, j: int, entry: str, allowed: float | None = None,
             full: str = "", what: str = MISMATCH) -> GradcheckError:
    """The error for two Jacobians, or projections of them. `allowed` is the absolute tolerance."""
    error = noted(
        GradcheckError(disagreement(check, a, n, i, j, what) + full),
        "gradcheck#jacobian-mismatch" if what == MISMATCH else "gradcheck#forward-mode-mismatch", differ=entry)
    with np.errstate(all="ignore"):
        excess = np.abs(a - n) / ((check.atol if allowed is None else allowed) + check.rtol * np.abs(n))
    error.excess, error.entry = float(np.nan_to_num(np.max(excess), nan=np.inf)), entry
    return error


def worst(check: Check, a: Array, n: Array, out_shape: tuple[int, ...], j: int) -> str:
    """The element where two Jacobians by input j differ most, relative to the tolerance there, and the difference."""
    x_shape = check.differentiable[j]._array.shape
    with np.errstate(all="ignore"):
        difference = np.abs(a - n)
        allowed = check.atol + check.rtol * np.abs(n)
        excess = np.where(a == n, -np.inf, difference - allowed)
    place = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
    x_place, out_place = divmod(place, a.shape[1])
    of_x, of_out = ([int(k) for k in np.unravel_index(at, shape)]
                    for at, shape in ((x_place, x_shape), (out_place, out_shape)))
    there = x_place, out_place
    return (f"most in the derivative of the output's element {of_out} by the input's element {of_x}: "
            f"{n[there]:.6g} numerically and {a[there]:.6g} analytically; the difference is {difference[there]:.3g}, "
            f"and {allowed[there]:.3g} is allowed")


# Projections on random vectors, instead of all elements


def _compare_projections(check: Check, outputs: list[Any], places: list[int]) -> None:
    """Compare v . J u from backward passes with v . J u from finite differences."""
    stream = Twister()
    xs = check.differentiable
    directions = [random_direction(stream, x) for x in xs]
    weights = [unit_vector(stream, out._array) for out in outputs]
    numerical = [directional(check.func, check.inputs, x, direction, check.eps) for x, direction in zip(xs, directions)]
    for i, (out, v) in enumerate(zip(outputs, weights)):
        first, second = (_pulled_back(out, xs, v.reshape(out._array.shape)) for _ in range(2))
        _check_repeats(check, *([np.asarray(row) for row in rows] for rows in (first, second)))
        for j, (direction, row) in enumerate(zip(directions, first)):
            n, a = np.dot(v, numerical[j][places[i]]), _along(row, direction)
            # Each element may differ by atol, and v . J u adds the elements up with these weights.
            allowed = check.atol * float(np.sum(v)) * float(np.sum(direction))
            if not agree(a, n, check.rtol, allowed):
                raise projected(check, a, n, i, j, allowed, out._array.shape, MISMATCH,
                                partial(_jacobians, check, out, j, places[i]))


def _jacobians(check: Check, out: TensorBase, j: int, place: int) -> tuple[Array, Array]:
    """The Jacobian of one output by input j, from backward passes and from finite differences."""
    return _analytical(check, out)[j], matrices(check.func, check.inputs, check.differentiable[j], check.eps)[place]


def random_direction(stream: Twister, x: TensorBase) -> Any:
    """A random direction in an input. A complex input has two, the second one along the imaginary axis."""
    first = unit_vector(stream, x._array).reshape(x._array.shape)
    if x._array.dtype.kind != "c":
        return first
    return first, unit_vector(stream, x._array).reshape(x._array.shape)


def _along(row: Any, direction: Any) -> Any:
    """The product of a row of the Jacobian, or 0, with a direction."""
    if not isinstance(direction, tuple):
        return np.sum(row * direction.reshape(-1))
    real, imaginary = direction
    return np.sum(np.real(row) * real.reshape(-1)) + 1j * np.sum(np.imag(row) * imaginary.reshape(-1))


def unit_vector(stream: Twister, like: Array) -> Array:
    """A random vector of length 1 with as many elements as `like`, in the real dtype of `like`."""
    vector = uniform(stream, (like.size,), np.float32).astype(like.real.dtype)
    return vector / (np.linalg.norm(vector) or 1)


def projected(check: Check, a: Any, n: Any, i: int, j: int, allowed: float, out_shape: tuple[int, ...], what: str,
              in_full: Callable[[], tuple[Array, Array]]) -> GradcheckError:
    """The error for projections that differ. `in_full` computes both Jacobians: from passes, and from differences."""
    if check.brief:
        entry = (f"along random directions they are {np.max(np.abs(n)):.6g} numerically and {np.max(np.abs(a)):.6g} "
                 "analytically")
        return mismatch(check, a, n, i, j, entry, allowed, what=what)
    analytical, numerical = in_full()
    full = ("\nThe above quantities relating the numerical and analytical jacobians are computed \nin fast mode. See: "
            "https://github.com/pytorch/pytorch/issues/53876 for more background \nabout fast mode. Below, we "
            f"recompute numerical and analytical jacobians in slow mode:\n\nNumerical:\n {plain(numerical)}\n"
            f"Analytical:\n{plain(analytical)}\n\n"
            f"The max per-element difference (slow mode) is: {np.max(np.abs(numerical - analytical))}.\n")
    if agree(analytical, numerical, check.rtol, check.atol):
        full += SMALL_ALL_THE_SAME
        entry = ""
    else:
        entry = worst(check, analytical, numerical, out_shape, j)
    return mismatch(check, a, n, i, j, entry, allowed, full, what)
