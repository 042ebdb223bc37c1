"""Reductions, scans, sorting and softmax against PyTorch: every operator on every kind of input, to second order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare

draws = np.random.default_rng(7)


def normal(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    values = draws.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * draws.standard_normal(shape)
    return np.asarray(values).astype(dtype)


INPUTS = {
    "matrix": normal(2, 3), "double": normal(3, 4, dtype="float64"), "transposed": normal(3, 2).T,
    "reversed rows": normal(2, 6)[:, ::2], "vector": normal(5), "single": normal(1), "scalar": normal(),
    "cube": normal(2, 3, 4, dtype="float64"), "no rows": normal(0, 3), "no columns": normal(2, 0),
    "half": normal(2, 3, dtype="float16"), "complex": normal(2, 3, dtype="complex64"),
    "long": draws.integers(-3, 4, (2, 3)), "int": draws.integers(-3, 4, (2, 3)).astype("int32"),
    "byte": draws.integers(0, 4, (2, 3)).astype("uint8"), "bool": draws.random((2, 3)) > 0.5,
    "ties": np.array([[1, 2, 2], [2, 1, 2]], "float32"), "nans": np.array([[1, np.nan, 2], [2, 1, np.nan]], "float32"),
    "zeros": np.zeros((2, 3), "float64"), "one zero": np.array([[1, 0, 2], [3, 4, 5.0]]),
    "two zeros": np.array([[1, 0, 2, 0], [3, 4, 5, 6.0]]),
    "infinite": np.array([[np.inf, 1], [-np.inf, -np.inf]], "float64"),
}
ONE_DIM = [{}, {"dim": 0}, {"dim": -1}, {"dim": 1, "keepdim": True}, {"axis": -1}, {"axis": 0, "keepdims": True},
           {"dim": 5}, {"dim": -4}, {"dim": 1.5}]
DIMS = [*ONE_DIM, {"dim": None}, {"dim": (0, 1)}, {"dim": ()}, {"dim": [0, -1], "keepdim": True}, {"dim": (0, 0)}]
kinds = pytest.mark.parametrize("kind", INPUTS)


def differs(name: str, kind: str, options: dict[str, Any]) -> bool:
    """Where the libraries are known to differ, each for a reason."""
    dim = options.get("dim", options.get("axis"))
    if name in ("var", "std", "var_mean", "std_mean") and dim == ():
        return True            # PyTorch's own gradient counts one element there
    if name in ("var", "var_mean") and kind == "single" and dim is None:
        return True            # of one element, whether the nan depends on it
    if name == "logsumexp" and dim in ((), None):
        return True            # PyTorch fails on an empty tuple and names a missing argument as Python does not
    if name in ("var_mean", "std_mean") and kind == "infinite":
        return True            # the mean of an infinity is nan there, since it comes from a running variance
    invalid = dim in (5, -4, (0, 0), 1.5)
    empty = kind in ("no rows", "no columns")
    return invalid and (name == "mean" or name in ("var", "std", "var_mean", "std_mean") or empty)  # two errors at once


@kinds
@pytest.mark.parametrize("name", ["sum", "nansum", "mean", "amax", "amin", "any", "all", "var", "std", "var_mean",
                                  "std_mean", "logsumexp"])
def test_over_several_dims(name: str, kind: str) -> None:
    for options in DIMS:
        if not differs(name, kind, options):
            compare(lambda t, x, options=options: getattr(t, name)(x, **options), INPUTS[kind])


@kinds
@pytest.mark.parametrize("name", ["prod", "max", "min", "aminmax", "argmax", "argmin", "median", "nanmedian"])
def test_over_one_dim(name: str, kind: str) -> None:
    for options in ONE_DIM:
        if "median" not in name or "axis" not in options:
            # The median of nothing is nan, and so is PyTorch's second derivative; ours is 0, since nothing has a part.
            compare(lambda t, x, options=options: getattr(t, name)(x, **options), INPUTS[kind],
                    order=2 if INPUTS[kind].size else 1)


@kinds
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "cumsum", "cumprod", "sort", "argsort"])
def test_along_a_dim(name: str, kind: str) -> None:
    for dim in (0, -1, 1, 5, -4, 1.5):
        compare(lambda t, x, dim=dim: getattr(x, name)(dim), INPUTS[kind])
        compare(lambda t, x, dim=dim: getattr(t, name)(x, dim=dim), INPUTS[kind], order=1)


@kinds
@pytest.mark.parametrize("name", ["cummax", "cummin", "mode"])
def test_with_indices(name: str, kind: str) -> None:
    for dim in (0, -1) if (kind, name) != ("nans", "mode") else ():     # which of the nans mode means is not defined
        compare(lambda t, x, dim=dim: getattr(x, name)(dim), INPUTS[kind])


@kinds
@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, float("inf"), -float("inf"), -1, -2.5, "fro", None, "abc"])
def test_norm(p: Any, kind: str) -> None:
    for options in ({}, {"dim": 0}, {"dim": 1, "keepdim": True}, {"dim": (0, 1)}, {"dim": ()}, {"dim": 5}):
        if options.get("dim") != 5 or INPUTS[kind].size:
            compare(lambda t, x, options=options: t.norm(x, p, **options), INPUTS[kind],
                    order=1 if p in (0, -1, -2.5) else 2)


@kinds
def test_norm_of_another_type(kind: str) -> None:
    if INPUTS[kind].dtype.kind == "f":
        compare(lambda t, x: x.norm(2, 0, dtype=t.float64), INPUTS[kind])


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "cumsum", "cumprod", "softmax", "log_softmax"])
@pytest.mark.parametrize("kind", ["matrix", "half", "long", "bool"])
def test_dtype(name: str, kind: str) -> None:
    for dtype in ("float64", "float32", "int64"):
        if dtype != "int64" or INPUTS[kind].dtype.kind != "f":
            # PyTorch rounds a cotangent to the type of the input first, we do it last: seen in the second derivative.
            order = 1 if name in ("nansum", "cumsum", "cumprod") else 2
            compare(lambda t, x, dtype=dtype: getattr(t, name)(x, 0, dtype=getattr(t, dtype)), INPUTS[kind],
                    order=order)
            if name in ("sum", "mean", "prod", "nansum"):
                compare(lambda t, x, dtype=dtype: getattr(t, name)(x, dtype=getattr(t, dtype)), INPUTS[kind],
                        order=order)


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize("kind", ["matrix", "transposed", "complex", "single", "scalar"])
def test_correction(name: str, kind: str) -> None:
    for args, options in (((), {"correction": 0}), ((), {"correction": 0.5}),
                          ((0,), {"correction": 0, "keepdim": True}), ((False,), {}),
                          ((0, False), {}), ((0, True, True), {}), ((), {"dim": 0, "unbiased": False}),
                          ((), {"dim": 0, "correction": None})):
        compare(lambda t, x, args=args, options=options: getattr(t, name)(x, *args, **options), INPUTS[kind])


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("correction", [-1, 0, 1, 2])
@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
def test_spread_of_no_elements_and_of_equal_ones(name: str, dim: int | None, correction: int) -> None:
    rows = np.array([[0., 0, 0], [4, 4, 4], [1e-30, 2e-30, 4e-30], [0.5, -1, 2]], np.float32)
    for array in (rows, rows[:2], rows[:0], rows[:, :0], rows[:0, :0]):
        for theirs, ours in zip(*[_spread(library, name, array, dim, correction) for library in (torch, retrograd)],
                                strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def _spread(library: Any, name: str, array: Any, dim: int | None, correction: int) -> list[Any]:
    found = getattr(library, name)(library.tensor(array), dim=dim, correction=correction)
    return [part.numpy() for part in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 2), (1,)])
@pytest.mark.parametrize("scale", [1e30, 1e-25, 1e-40])
def test_squares_that_float32_does_not_hold(name: str, dim: Any, scale: float) -> None:
    own = np.random.default_rng(0)                         # the same numbers in any order of tests
    x = (own.standard_normal((3, 40, 4)) * scale).astype("float32")
    x[:, :, 1], x[:, :, 2] = own.standard_normal((3, 40)), 0.5

    def case(library: Any, x: Any, keepdim: bool) -> list[Any]:
        found = getattr(library, name)(x, dim=dim, keepdim=keepdim)
        return [result / scale for result in (found if isinstance(found, tuple) else [found])]

    for keepdim in (False, True):
        compare(partial(case, keepdim=keepdim), x, order=1 if scale == 1e-25 else 0, names=False)


def test_degrees_of_freedom_run_out_with_a_warning() -> None:
    for name in ("var", "std", "var_mean", "std_mean"):
        said = []
        for library in (torch, retrograd):
            with pytest.warns(UserWarning, match="degrees of freedom") as caught:
                getattr(library, name)(library.tensor([3.0]))
            said.append(str(caught[0].message).partition(" (Triggered")[0])
        assert said[0] == said[1]


@pytest.mark.parametrize("kind", ["matrix", "transposed", "cube", "scalar", "long", "half", "ties", "no rows", "bool",
                                  "complex"])
def test_picking(kind: str) -> None:
    for k in (0, 1, 2, 3, 4, -1):
        compare(lambda t, x, k=k: t.topk(x, k)[0], INPUTS[kind])
        compare(lambda t, x, k=k: x.topk(k, 0, False), INPUTS[kind] if kind != "ties" else normal(3, 2))
        if kind not in ("ties", "long"):      # which of equal elements is meant is not defined
            compare(lambda t, x, k=k: t.kthvalue(x, k), INPUTS[kind])
            compare(lambda t, x, k=k: x.kthvalue(k, 0, True), INPUTS[kind])
    for options in ({"descending": True}, {"dim": 0, "descending": True}, {"stable": True}):
        compare(lambda t, x, options=options: x.sort(**options), INPUTS[kind])
        compare(lambda t, x, options=options: t.argsort(x, **options), INPUTS[kind])
    compare(lambda t, x: t.sort(x, 0, stable=True), INPUTS[kind])       # PyTorch refuses this mixture
    compare(lambda t, x: x.sort(-1, True, stable=False), INPUTS[kind])
    compare(lambda t, x: t.msort(x), INPUTS[kind] if INPUTS[kind].ndim else normal(3))


@kinds
def test_counting(kind: str) -> None:
    x = INPUTS[kind]
    for dim in (None, 0, -1, (0, -1) if x.ndim > 1 else 0, (), 5):
        compare(lambda t, x, dim=dim: t.count_nonzero(x, dim), x)
    compare(lambda t, x: t.nonzero(x), x)
    compare(lambda t, x: x.nonzero(as_tuple=True), x)
    compare(lambda t, x: x.argwhere(), x)
    if x.dtype.kind != "c":
        compare(lambda t, x: t.unique(x, return_inverse=True, return_counts=True), x, grad=False)
        compare(lambda t, x: t.unique_consecutive(x, return_inverse=True, return_counts=True), x, grad=False)
        if x.ndim and x.size:
            compare(lambda t, x: t.unique(x, dim=0, return_inverse=True, return_counts=True), x, grad=False)
            compare(lambda t, x: t.unique_consecutive(x, dim=-1), x, grad=False)


@pytest.mark.parametrize("x", [np.array([1, 1, 3]), np.array([], dtype=int), np.array([2], "uint8"), np.array([-1]),
                               np.ones((2, 2), int), np.ones(3, "float32")])
def test_bincount(x: np.ndarray[Any, Any]) -> None:
    compare(lambda t, x: t.bincount(x), x)
    compare(lambda t, x: x.bincount(minlength=6), x)
    compare(lambda t, x: x.bincount(minlength=-1), x)
    for dtype in ("float32", "float64", "int64") if x.size else ():
        compare(lambda t, x, w: t.bincount(x, w), x, np.arange(3).astype(dtype), grad=False)


@pytest.mark.parametrize("name", ["max", "min"])
def test_two_tensors(name: str) -> None:
    a, b = np.array([1, 2, 3, np.nan], "float32"), np.array([2, 2, 1, 0], "float32")
    compare(lambda t, x, y: getattr(t, name)(x, y), a, b)
    compare(lambda t, x, y: getattr(x, name)(y), a, b)
    compare(lambda t, x, y: getattr(t, name)(x, other=y), a, b)


@pytest.mark.parametrize("name", ["sum", "max", "prod", "var", "mean", "any", "argmax", "median", "softmax", "cumsum",
                                  "sort", "topk", "logsumexp", "amax", "nonzero", "mode", "kthvalue"])
def test_what_is_no_tensor_is_refused(name: str) -> None:
    for wrong in (None, 3.0, "x"):
        compare(lambda t, wrong=wrong: getattr(t, name)(wrong, *([] if name == "nonzero" else [1])))
    if name not in ("nonzero", "any", "amax", "logsumexp"):
        compare(lambda t, x: getattr(t, name)(x, "q"), normal(2, 3))
        compare(lambda t, x: getattr(t, name)(x, None, None, None, None, None), normal(2, 3))


def test_two_dims_without_a_tuple_are_refused() -> None:
    compare(lambda t, x: x.sum(0, 1), normal(2, 3))
    compare(lambda t, x: x.logsumexp(0, 1), normal(2, 3))
    compare(lambda t, x: x.any(0, 1), normal(2, 3))


def test_half_precision_is_accumulated_in_single() -> None:
    many = np.full((5000, 2), 1.0, "float16")
    for name in ("sum", "mean", "var", "norm"):
        compare(lambda t, x, name=name: getattr(x, name)(dim=0), many, grad=False)
        compare(lambda t, x, name=name: getattr(x, name)(), many, grad=False)
    compare(lambda t, x: x.cumsum(0), many, grad=False)


@pytest.mark.parametrize("name", ["max", "min", "median", "sort", "topk", "aminmax", "cummax", "mode", "kthvalue",
                                  "nanmedian"])
def test_named_results_print_alike(name: str) -> None:
    def shown(library: Any) -> tuple[str, Any, Any]:
        x = library.tensor([[1.0, 5.0, 2.0], [5.0, 0.0, 3.0]])
        found = getattr(library, name)(x, **({"k": 1} if name in ("topk", "kthvalue") else {"dim": 0}))
        return repr(found), type(found).__name__, (found.n_fields, found.n_sequence_fields, found.n_unnamed_fields)

    assert shown(retrograd) == shown(torch)


def test_cumsum_and_cumprod_in_place() -> None:
    for name in ("cumsum_", "cumprod_"):
        compare(lambda t, x, name=name: getattr(x * 1, name)(1), normal(2, 3))
