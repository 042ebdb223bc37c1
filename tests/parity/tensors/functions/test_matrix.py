"""Products of matrices against PyTorch: every combination of ranks and types, and everything composed of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare

draws = np.random.default_rng(3)


def normal(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    values = draws.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * draws.standard_normal(shape)
    if np.dtype(dtype).kind in "iu":
        values = np.abs(3 * values)
    return np.asarray(values).astype(dtype)


LEFT = [(), (3,), (2, 3), (5, 2, 3), (1, 2, 3), (4, 5, 2, 3), (0, 3), (0, 2, 3)]
RIGHT = [(), (3,), (3, 4), (5, 3, 4), (1, 3, 4), (4, 5, 3, 4), (5, 1, 3, 4), (4, 4), (3, 0)]


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("right", RIGHT)
def test_matmul_of_every_rank(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    compare(lambda t, x, y: x @ y, normal(*left), normal(*right))
    compare(lambda t, x, y: t.matmul(x.detach(), y), normal(*left), normal(*right))
    compare(lambda t, x, y: x.matmul(y.detach()), normal(*left), normal(*right))


REAL = ["float32", "float64", "float16", "int64", "int32", "uint8", "bool"]


@pytest.mark.parametrize("dtypes", [*product([*REAL, "complex64", "complex128"],
                                             ["float32", "float64", "int64", "bool", "complex64"]),
                                    ("float16", "float16"), ("uint8", "uint8"), ("complex128", "complex128")])
def test_types_are_not_promoted(dtypes: tuple[str, str]) -> None:
    for left, right in [((2, 3), (3, 4)), ((2, 2, 3), (2, 3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2))]:
        a, b = normal(*left, dtype=dtypes[0]), normal(*right, dtype=dtypes[1])
        compare(lambda t, x, y: x @ y, a, b)
        for name in ("mm", "bmm", "mv", "dot", "vdot", "inner", "outer"):
            compare(lambda t, x, y, name=name: getattr(t, name)(x, y), a, b)


def test_matmul_of_views() -> None:
    compare(lambda t, x, y: x.transpose(1, 2) @ y, normal(5, 3, 2), normal(3, 4))
    compare(lambda t, x, y: x.transpose(1, 2) @ y, normal(5, 3, 2), normal(3))
    compare(lambda t, x, y: x.transpose(1, 2) @ y.detach(), normal(5, 3, 2), normal(3, 4))
    compare(lambda t, x, y: x @ y.transpose(1, 2), normal(2, 3), normal(5, 4, 3))
    compare(lambda t, x, y: x.detach() @ y.transpose(1, 2), normal(2, 3), normal(5, 4, 3))
    compare(lambda t, x, y: x.detach() @ y.transpose(1, 2), normal(3), normal(5, 4, 3))
    compare(lambda t, x, y: x @ y.transpose(-1, -2), normal(2, 4, 5, 3), normal(2, 4, 6, 3))
    compare(lambda t, x, y: x.expand(5, 2, 3) @ y.detach(), normal(1, 2, 3), normal(3, 4))
    compare(lambda t, x, y: x.transpose(0, 1) @ y.detach(), normal(4, 5, 2, 3), normal(3))
    compare(lambda t, x, y: x.t() @ y.t(), normal(3, 2), normal(4, 3))
    compare(lambda t, x, y: x[:, ::2] @ y[::2], normal(2, 6), normal(6, 4))
    compare(lambda t, x: (x @ x).sum(), normal(3, 3))


ADDED: dict[str, list[tuple[Any, ...]]] = {
    "addmm": [((2, 4), (2, 3), (3, 4)), ((4,), (2, 3), (3, 4)), ((1, 4), (2, 3), (3, 4)), ((2, 1), (2, 3), (3, 4)),
              ((), (2, 3), (3, 4)), ((3, 4), (2, 3), (3, 4)), ((2, 4), (2, 3), (4, 4)), ((2, 4), (2,), (2, 4)),
              ((1, 2, 4), (2, 3), (3, 4)), ((2, 2), (2, 2), (2,)), ((2, 4), (2, 0), (0, 4))],
    "addmv": [((2,), (2, 3), (3,)), ((1,), (2, 3), (3,)), ((), (2, 3), (3,)), ((3,), (2, 3), (3,)),
              ((2,), (2, 3), (4,)), ((2,), (3,), (3,))],
    "addbmm": [((2, 4), (5, 2, 3), (5, 3, 4)), ((4,), (5, 2, 3), (5, 3, 4)), ((2, 4), (5, 2, 3), (4, 3, 4)),
               ((3, 4), (5, 2, 3), (5, 3, 4)), ((2, 4), (5, 2, 3), (5, 4, 4)), ((), (5, 2, 3), (5, 3, 4))],
    "baddbmm": [((5, 2, 4), (5, 2, 3), (5, 3, 4)), ((4,), (5, 2, 3), (5, 3, 4)), ((2, 4), (5, 2, 3), (4, 3, 4)),
                ((2, 4), (5, 2, 3), (5, 4, 4)), ((3, 4), (5, 2, 3), (5, 3, 4)), ((1, 2, 1), (5, 2, 3), (5, 3, 4))],
    "addr": [((3, 4), (3,), (4,)), ((4,), (3,), (4,)), ((2, 4), (3,), (4,)), ((3, 4), (3, 1), (4,)), ((), (3,), (4,))],
}


@pytest.mark.parametrize("name", ADDED)
def test_products_added_to_something(name: str) -> None:
    for shapes in ADDED[name]:
        arrays = [normal(*shape) for shape in shapes]
        for options in ({}, {"beta": 2}, {"alpha": 0.5}, {"beta": 0, "alpha": 3}, {"beta": -1.5, "alpha": -2}):
            compare(lambda t, x, y, z, options=options: getattr(t, name)(x, y, z, **options), *arrays)
        compare(lambda t, x, y, z: getattr(t, name)(x, y, z, beta=2, alpha=3),
                *[normal(*s, dtype="int64") for s in shapes])
        if len(shapes[0]) < 3 or name == "baddbmm":
            compare(lambda t, x, y, z: getattr(x, name)(y, z, beta=2 + 1j, alpha=1j),
                    *[normal(*s, dtype="complex128") for s in shapes])
        for odd in range(3):
            mixed = [normal(*s, dtype="float64" if i == odd else "float32") for i, s in enumerate(shapes)]
            compare(lambda t, x, y, z: getattr(x, name)(y, z), *mixed, grad=False)


@pytest.mark.parametrize("name", ADDED)
def test_products_added_in_place(name: str) -> None:
    compare(lambda t, x, y, z: getattr(x * 1, name + "_")(y, z, beta=0.5, alpha=2),
            *[normal(*s) for s in ADDED[name][0]])


def test_what_beta_0_leaves_out_may_be_nan() -> None:
    nans = np.full((2, 4), np.nan, "float32")
    compare(lambda t, x, y, z: t.addmm(x, y, z, beta=0), nans, normal(2, 3), normal(3, 4))


@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (3, 2), (3,), (0, 0), (0, 3), (2, 2, 2)])
def test_trace(shape: tuple[int, ...]) -> None:
    for dtype in ("float32", "float16", "int32", "complex64"):
        compare(lambda t, x: x.trace(), normal(*shape, dtype=dtype))
    compare(lambda t, x: x.trace(), np.ones((2, 2), bool))


EQUATIONS: list[tuple[Any, ...]] = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ii", (3, 3)), ("ii->i", (3, 3)), ("ij->ji", (2, 3)),
    ("ij->", (2, 3)), ("ij->i", (2, 3)), ("i,i", (3,), (3,)), ("i,j->ij", (3,), (4,)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("...ij,jk", (5, 2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)),
    ("ijk,jil->kl", (3, 4, 5), (4, 3, 2)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("i", (3,)), ("...", (2, 3)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)), ("ij,ij->", (2, 3), (2, 3)),
    (" i j , j k -> i k ", (2, 3), (3, 4)), ("iij->j", (2, 2, 3)), ("bn,anm,bm->ba", (2, 5), (3, 5, 4), (2, 4)),
    ("Ij,jK->KI", (2, 3), (3, 4)), ("ij,jk->ik...", (2, 3), (3, 4)), ("...i->i", (2, 3)), ("i,->i", (2,), ()),
    ("ij,ij->ij", (2, 3), (1, 3)), ("ij,i->ij", (2, 3), (2,)), ("ij,k->ijk", (2, 3), (2,)), ("i->", (0,)),
    ("ij,jk", (2, 0), (0, 3)), ("", ()), (",", (), ()), ("ab...,b...->a...", (2, 3, 4), (3, 4)),
    ("b...,b...", (3, 1, 4), (3, 5, 1)), ("bA", (2, 3)), ("i,ij,j", (3,), (3, 4), (4,)), ("ij,jk->", (2, 3), (3, 4)),
    ("ij,kl->ij", (2, 3), (4, 5)), ("ab,ab,ab->a", (2, 3), (2, 3), (2, 3)), ("ij,jk->k", (2, 1), (1, 4)),
    ("...,...", (2, 3), (3,)), ("ii,i->i", (3, 3), (3,)), ("iii->i", (3, 3, 3)), ("ijij->ij", (2, 3, 2, 3)),
    ("ij,jk,ki->", (2, 3), (3, 4), (4, 2)),
    # refused
    ("ij,jk->il", (2, 3), (3, 4)), ("ij,jk->iik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (4, 4)), ("ij", (2, 3), (3, 4)),
    ("ij,jk", (2, 3)), ("ijk", (2, 3)), ("i", (2, 3)), ("i1", (2, 3)), ("ij->i->j", (2, 3)), ("..ij", (2, 3)),
    ("ii", (2, 3)),
    ("...ijk,i", (2, 3), (2,)), ("......", (2,)), ("i...j...", (2, 3, 4)), ("ij->...i...", (2, 3)), ("ij->.i", (2, 3)),
    ("", (2,)), ("i->j", (2,)), ("i-j", (2,)), ("ij,i", (2, 3), (3,)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda case: case[0])
def test_einsum(case: tuple[Any, ...]) -> None:
    equation, *shapes = case
    compare(lambda t, *x: t.einsum(equation, *x), *[normal(*shape) for shape in shapes])
    compare(lambda t, *x: t.einsum(equation, list(x)), *[normal(*shape, dtype="complex128") for shape in shapes])


def test_einsum_with_numbered_subscripts() -> None:
    compare(lambda t, x, y: t.einsum(x, [0, 1], y, [1, 2], [0, 2]), normal(2, 3), normal(3, 4))
    compare(lambda t, x, y: t.einsum(x, [..., 1], y, [1, 2]), normal(2, 3), normal(3, 4))
    compare(lambda t, x: t.einsum(x, [0, 26], [26, 0]), normal(2, 3))
    compare(lambda t, x: t.einsum(x, [0, 60]), normal(2, 3))
    compare(lambda t, x: t.einsum("ij"), normal(2, 3))


@pytest.mark.parametrize("case", [
    (2, (3, 4, 5), (4, 5, 6)), (1, (3, 4), (4, 5)), (0, (3,), (4,)), (([1, 0], [0, 1]), (3, 4, 5), (4, 3, 2)),
    (2, (3, 4), (4, 5)), (([0], [0]), (3,), (3,)), (3, (3, 4), (3, 4)), (([0], [0, 1]), (3, 3), (3, 3)),
    (-1, (3,), (3,)),
    (2, (4, 5), (4, 5)), (([1], [1]), (2, 3), (2, 4)), (1, (1, 3), (3, 1)), (1, (2, 3), (1, 4)), (1, (2, 1), (3, 4)),
    (([-1], [-1]), (2, 3), (4, 3)), (([5], [-1]), (2, 3), (4, 3)), (([0, 0], [0, 1]), (3, 3), (3, 3)),
    ("a", (3, 3), (3, 3)),
    (1, (0, 3), (3, 2)), (1, (2, 0), (0, 3)), (0, (), ())], ids=str)
def test_tensordot(case: tuple[Any, ...]) -> None:
    dims, a, b = case
    compare(lambda t, x, y: t.tensordot(x, y, dims=dims), normal(*a), normal(*b))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 3), (4,)), ((), (3,)),
                                    ((), ()),
                                    ((5, 2, 3), (4, 3)), ((3,), (5, 2, 3)), ((2, 3), (2, 1))])
def test_inner(shapes: tuple[Any, ...]) -> None:
    compare(lambda t, x, y: t.inner(x, y), *[normal(*shape) for shape in shapes])


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4), (4, 5)), ((2, 3),), ((2, 3), (3, 4)), ((2, 3), (5, 4)),
                                    ((3,), (3, 4)),
                                    ((10, 2), (2, 30), (30, 3), (3, 4)), ()])
def test_chain_matmul(shapes: tuple[Any, ...]) -> None:
    compare(lambda t, *x: t.chain_matmul(*x), *[normal(*shape) for shape in shapes])


@pytest.mark.parametrize("wrong", [3, None, "a", 1.5, [1]])
def test_what_is_no_tensor_is_refused(wrong: Any) -> None:
    for name in ("mm", "matmul", "bmm", "mv", "dot", "vdot", "inner", "outer", "addmm"):
        compare(lambda t, x, name=name: getattr(t, name)(x, wrong), normal(2, 2))
        compare(lambda t, x, name=name: getattr(t, name)(wrong, x), normal(2, 2))
    compare(lambda t, x: x @ wrong, normal(2, 2))
    compare(lambda t, x: wrong @ x, normal(2, 2))


def test_an_array_on_the_right() -> None:
    compare(lambda t, x: x @ np.ones((3, 2), "float32"), normal(2, 3), grad=False)
