"""Gradients, and results of less usual functions, lie in memory as PyTorch's do.

A program sees the layout of a gradient in hooks and in what `torch.autograd.grad` returns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

Layouts = list[tuple[int, ...] | None]


def draw(shape: Sequence[int], complex_too: bool = False, order: Sequence[int] | None = None) -> Any:
    """Random numbers whose axes lie in memory in this order, the slowest first."""
    rng = np.random.default_rng(sum(shape))
    found = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if complex_too else 0)
    if order is None:
        return found
    return np.ascontiguousarray(found.transpose(order)).transpose(np.argsort(order))


def turned(array: Any) -> Any:
    """The matrices column by column."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def layouts(t: Any, function: Callable[..., Any], arrays: Sequence[Any], cotangent: str = "rows",
            recorded: bool = False) -> tuple[Layouts, Layouts]:
    """The strides of the results of a function, and of the gradients of its arguments, for a package."""
    leaves = [t.from_numpy(array).requires_grad_() for array in arrays]
    found = function(t, *leaves)
    outs = [out for out in (found if isinstance(found, tuple) else [found]) if out.requires_grad]
    gradients: Layouts = []
    for out in outs:
        given = t.from_numpy(np.asarray(draw(out.shape, out.is_complex()))).to(out.dtype)
        if cotangent == "columns" and given.ndim > 1:
            given = given.mT.contiguous().mT
        if cotangent == "repeated":
            given = t.ones((), dtype=out.dtype).expand(out.shape)
        made = t.autograd.grad(out, leaves, given.requires_grad_(recorded), create_graph=recorded, retain_graph=True,
                               allow_unused=True)
        gradients += [None if each is None else each.stride() for each in made]
    return [out.stride() for out in outs], gradients


def agree(function: Callable[..., Any], *arrays: Any) -> None:
    for cotangent, recorded in itertools.product(["rows", "columns", "repeated"], [False, True]):
        found, expected = [layouts(t, function, arrays, cotangent, recorded) for t in (retrograd, torch)]
        assert found == expected, (cotangent, recorded)


# Systems of equations

SYSTEMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "solve": lambda t, a, b: t.linalg.solve(a, b), "solve_ex": lambda t, a, b: t.linalg.solve_ex(a, b)[0],
    "solve from the right": lambda t, a, b: t.linalg.solve(a, b.mT, left=False),
    "solve vectors": lambda t, a, b: t.linalg.solve(a, b[..., 0]), "inv": lambda t, a, b: t.linalg.inv(a),
    "pinv": lambda t, a, b: t.linalg.pinv(b), "pinv wide": lambda t, a, b: t.linalg.pinv(b.mT),
    "pinv hermitian": lambda t, a, b: t.linalg.pinv(a, hermitian=True),
    "lstsq": lambda t, a, b: t.linalg.lstsq(b, a).solution, "lstsq square": lambda t, a, b: t.linalg.lstsq(a, b)[0],
    "lstsq wide": lambda t, a, b: t.linalg.lstsq(b.mT, b.mT.detach()).solution,
    "lstsq vectors": lambda t, a, b: t.linalg.lstsq(b, a[..., 0]).solution,
    "lstsq gels": lambda t, a, b: tuple(t.linalg.lstsq(b, a, driver="gels")[:2]),
    "triangular_solve": lambda t, a, b: tuple(t.triangular_solve(b, a)),
    "cholesky_solve": lambda t, a, b: t.cholesky_solve(b, a), "cholesky_inverse": lambda t, a, b: t.cholesky_inverse(a)}


@pytest.mark.parametrize("sides", [(4, 3), (3, 1), (1, 2), (1, 1)], ids=str)
@pytest.mark.parametrize("stack", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
def test_systems_of_equations(name: str, columns: bool, complex_too: bool, stack: tuple[int, ...],
                              sides: tuple[int, int]) -> None:
    a, b = draw((*stack, sides[0], sides[0]), complex_too), draw((*stack, *sides), complex_too)
    a = a @ a.conj().swapaxes(-1, -2) + 4 * np.eye(sides[0])
    if name == "triangular_solve":                          # PyTorch repeats a zero for what has no gradient
        agree(lambda t, a, b: SYSTEMS[name](t, a, b)[0], turned(a) if columns else a, turned(b) if columns else b)
    else:
        agree(SYSTEMS[name], turned(a) if columns else a, turned(b) if columns else b)


@pytest.mark.parametrize("stacks", [((2,), ()), ((), (2,)), ((2, 1), (3,))], ids=str)
@pytest.mark.parametrize("name", ["solve", "solve_ex", "solve from the right", "cholesky_solve"])
def test_stacks_that_are_broadcast(name: str, stacks: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = draw((*stacks[0], 4, 4)), draw((*stacks[1], 4, 3))
    agree(SYSTEMS[name], a @ a.swapaxes(-1, -2) + 4 * np.eye(4), b)


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("stacks", [((), ()), ((2,), (2,)), ((2, 3), (2, 3)), ((2,), ()), ((), (2,))], ids=str)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_triangular_systems(unitriangular: bool, left: bool, stacks: tuple[Any, Any], complex_too: bool) -> None:
    a = draw((*stacks[0], 4, 4), complex_too) + 4 * np.eye(4)
    b = draw((*stacks[1], *((4, 3) if left else (3, 4))), complex_too)
    for first, second, upper in itertools.product((a, turned(a)), (b, turned(b)), (False, True)):
        def solved(t: Any, x: Any, y: Any, upper: bool = upper) -> Any:
            return t.linalg.solve_triangular(x, y, upper=upper, left=left, unitriangular=unitriangular)

        for cotangent in ("rows", "columns", "repeated"):
            found, expected = [layouts(t, solved, (first, second), cotangent) for t in (retrograd, torch)]
            assert found == expected, (upper, cotangent, first.strides, second.strides)


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("stack", [(), (2,), (2, 3)], ids=str)
def test_exponentials_of_matrices(stack: tuple[int, ...], complex_too: bool) -> None:
    x = draw((*stack, 3, 3), complex_too)
    for given in (x, turned(x)):
        agree(lambda t, a: t.linalg.matrix_exp(a), given)


# Fourier transforms

TRANSFORMS = [f"{inverse}{kind}fft{dims}"
              for inverse in ("", "i") for kind in ("", "r", "h") for dims in ("", "2", "n")]


def transformed(name: str, options: dict[str, Any], t: Any, x: Any) -> Any:
    return getattr(t.fft, name)(x, **options)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("longer", [0, 2, -1])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)], ids=str)
@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_fourier_transforms(name: str, complex_too: bool, order: tuple[int, ...], longer: int, norm: str) -> None:
    if complex_too and name.startswith(("rfft", "ihfft")):
        return                                              # these refuse complex numbers
    x = draw((3, 4, 6), complex_too, order)
    for dims in [(0,), (1,), (2,)] if name.endswith("t") else [(0, 1), (1, 0), (2, 1)]:
        sizes = [x.shape[dim] + longer for dim in dims]
        options = {"n": sizes[0], "dim": dims[0]} if len(dims) == 1 else {"s": sizes, "dim": dims}
        agree(partial(transformed, name, {**options, "norm": norm}), x)


# Complex gradients of real numbers

MIXED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mul": lambda t, x, z: x * z, "add": lambda t, x, z: z + x, "div": lambda t, x, z: z / x,
    "pow": lambda t, x, z: z ** x,
    "to": lambda t, x, z: x.to(t.complex128), "to narrower": lambda t, x, z: x.to(t.complex64),
    "real": lambda t, x, z: z.real * x, "view_as_real": lambda t, x, z: t.view_as_real(z) * 2}


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (4,), (3, 1)], ids=str)
@pytest.mark.parametrize("name", MIXED)
def test_complex_gradients_of_real_numbers(name: str, shape: tuple[int, ...]) -> None:
    for recorded in (False, True):
        found, expected = [layouts(t, MIXED[name], [draw(shape) + 3, draw((3, 4), True)], recorded=recorded)
                           for t in (retrograd, torch)]
        assert found == expected


LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda t, z: z.sum(), "sum of a dim": lambda t, z: z.sum(0),
    "cat": lambda t, z: t.cat([z, z]), "flip": lambda t, z: z.flip(0), "roll": lambda t, z: z.roll(1, 0),
    "pad": lambda t, z: t.nn.functional.pad(z, (1, 2)), "to": lambda t, z: z.to(t.complex64),
    "tril": lambda t, z: z.tril(), "inv": lambda t, z: t.linalg.inv(z[:, :3])}


@pytest.mark.parametrize("name", LINEAR)
def test_names_of_the_gradients_of_complex_numbers(name: str) -> None:
    """Nothing is conjugated on the way back through an operator with real coefficients."""
    names = []
    for t in (retrograd, torch):
        z = t.from_numpy(draw((3, 4), True)).requires_grad_()
        out = LINEAR[name](t, z)
        given = t.ones_like(out).requires_grad_()
        gradient, = t.autograd.grad(out, z, given, create_graph=True)
        names.append(gradient.grad_fn.name())
    assert names[0] == names[1]


# Unique slices

@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4, 2), (1, 3), (0, 3), (3, 0), (0, 0), (2, 0, 3), (0,)], ids=str)
def test_unique_slices(shape: tuple[int, ...], name: str) -> None:
    for order, dim in itertools.product(itertools.permutations(range(len(shape))), range(-len(shape), len(shape))):
        array, found = draw(shape, order=order).round(), []
        for t in (retrograd, torch):
            try:
                parts = getattr(t, name)(t.from_numpy(array), dim=dim, return_inverse=True, return_counts=True)
                found.append([(tuple(part.shape), part.stride(), part.tolist()) for part in parts])
            except RuntimeError as error:
                found.append([str(error)])
        assert found[0] == found[1], (order, dim)


# Networks

@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 2, 3), (2, 1, 1), (3, 2, 1), (1, 0, 1), (2, 2, 3)])
def test_transposed_convolutions(dims: int, stride: int, padding: int, dilation: int) -> None:
    x, weight = draw((2, 4, *(4, 5, 3)[:dims])), draw((4, 2, *(2, 3, 2)[:dims]))
    agree(lambda t, x, weight: getattr(t.nn.functional, f"conv_transpose{dims}d")(
        x, weight, stride=stride, output_padding=padding, dilation=dilation), x, weight)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("indices_last", [False, True])
def test_max_unpool(dims: int, channels_last: bool, indices_last: bool) -> None:
    order = (0, *range(2, dims + 2), 1) if channels_last else None

    def unpooled(t: Any, x: Any) -> Any:
        pooled, at = getattr(t.nn.functional, f"max_pool{dims}d")(x.detach(), 2, return_indices=True)
        if indices_last and dims == 2:
            at = at.contiguous(memory_format=t.channels_last)
        values = pooled.clone().requires_grad_()
        out = getattr(t.nn.functional, f"max_unpool{dims}d")(values, at, 2)
        gradient, = t.autograd.grad(out, values, t.ones_like(out).contiguous())
        return out.stride(), gradient.stride()

    x = draw((2, 3, *(4, 6, 4)[:dims]), order=order)
    found, expected = [unpooled(t, t.from_numpy(x)) for t in (retrograd, torch)]
    assert found == expected


@pytest.mark.parametrize("order", [*itertools.product([False, True], repeat=3)], ids=str)
@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (2, 1, 5, 4), (1, 3, 5, 4), (3, 5, 4), (5, 4)], ids=str)
@pytest.mark.parametrize("mask", ["none", "causal", "bools", "floats"])
def test_attention(mask: str, shape: tuple[int, ...], order: tuple[bool, ...]) -> None:
    arrays = []
    for turn in order:
        x = draw(shape)
        arrays.append(np.ascontiguousarray(x.swapaxes(-3, -2)).swapaxes(-3, -2) if turn and x.ndim > 2 else x)

    def attention(t: Any, q: Any, k: Any, v: Any) -> Any:
        given = {"bools": t.ones(5, 5).bool().tril(), "floats": t.ones(5, 5).double()}.get(mask)
        return t.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=given, is_causal=mask == "causal")

    for cotangent in ("rows", "repeated"):
        found, expected = [layouts(t, attention, arrays, cotangent) for t in (retrograd, torch)]
        assert found == expected


@pytest.mark.parametrize("stack", [(), (2,), (1,)], ids=str)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("complex_too", [False, True])
def test_short_time_transforms(complex_too: bool, center: bool, stack: tuple[int, ...]) -> None:
    x, window = draw((*stack, 64), complex_too), np.hanning(18)[1:-1]
    agree(lambda t, x, window: t.stft(x, 16, window=window, center=center, return_complex=True), x, window)
    agree(lambda t, x, window: t.view_as_real(
        t.stft(x, 16, window=window, center=center, return_complex=True)), x, window)
    parts = draw((*stack, 16 if complex_too else 9, 17), True)
    agree(lambda t, x, window: t.istft(x, 16, window=window, center=center, return_complex=complex_too), parts, window)
    for t in (retrograd, torch):
        assert not t.stft(t.from_numpy(x), 16, window=t.from_numpy(window), return_complex=True)._is_view()
