"""torch.masked here and in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch as pytorch

import retrograd

_X = [[1.5, -5.0, 3.0, 0.25], [4.0, 2.0, 6.0, -1.0], [0.5, 7.0, -2.0, 3.5]]
_MASKS = [None, [[True, False, True, True], [False, True, False, True], [True, True, True, True]],
          [[True, False, True, True], [False, False, False, False], [True, True, False, True]],
          [True, False, True, True]]
_REDUCTIONS = ["sum", "mean", "amax", "amin", "prod", "std", "var", "argmax", "argmin", "logsumexp", "median", "norm"]
_SAME_SHAPE = ["cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize"]


def _call(torch: Any, name: str, data: Any, mask: Any, dtype: str, dim: Any, **options: Any) -> Any:
    x = torch.tensor(data, dtype=getattr(torch, dtype), requires_grad=dtype.startswith("float"))
    if "cast" in options:
        options["dtype"] = getattr(torch, options.pop("cast"))
    given = (2.0, dim) if name == "normalize" else (2.0, dim) if name == "norm" else (dim,)
    out = getattr(torch.masked, name)(x, *given, mask=None if mask is None else torch.tensor(mask), **options)
    if x.requires_grad and out.requires_grad:
        out.nan_to_num(0, 0, 0).sum().backward()
    grad = None if x.grad is None else x.grad.tolist()
    wide = torch.complex128 if out.is_complex() else torch.float64
    return out.detach().to(wide).tolist(), str(out.dtype).split(".")[-1], tuple(out.shape), grad


def _compare(name: str, mask: Any, dtype: str, dim: Any, **options: Any) -> None:
    data = [[int(v) for v in row] for row in _X] if dtype.startswith(("int", "bool")) else _X
    try:
        expected = _call(pytorch, name, data, mask, dtype, dim, **options)
    except Exception as error:
        with pytest.raises(type(error)):
            _call(retrograd, name, data, mask, dtype, dim, **options)
        return
    found = _call(retrograd, name, data, mask, dtype, dim, **options)
    assert found[1:3] == expected[1:3]
    for a, b in zip(found[::3], expected[::3], strict=True):
        if b is not None:
            pytorch.testing.assert_close(pytorch.tensor(a), pytorch.tensor(b), equal_nan=True)


@pytest.mark.parametrize("mask", _MASKS)
@pytest.mark.parametrize("name", _REDUCTIONS)
def test_reductions(name: str, mask: Any) -> None:
    for dtype in ("float32", "float64", "int32", "int64"):
        for dim in (None, 0, 1, -1) if name != "median" else (0, 1, -1):
            _compare(name, mask, dtype, dim)
            _compare(name, mask, dtype, dim, keepdim=True)
    if not name.startswith("arg"):
        for dim in ((0, 1), ()):
            _compare(name, mask, "float32", dim)
    if name in ("sum", "prod", "mean", "amax", "amin", "logsumexp"):
        _compare(name, mask, "complex64", 1)


@pytest.mark.parametrize("mask", _MASKS)
@pytest.mark.parametrize("name", _SAME_SHAPE)
def test_results_of_the_shape_of_the_input(name: str, mask: Any) -> None:
    for dtype in ("float32", "float64"):
        for dim in (0, 1, -1, (1, 0), None):
            _compare(name, mask, dtype, dim)


def test_logaddexp() -> None:
    results = []
    for torch in (pytorch, retrograd):
        x, m = torch.tensor(_X), torch.tensor(_MASKS[1])
        results.append(torch.masked.logaddexp(x, x.flip(0), input_mask=m, other_mask=~m).tolist())
    assert results[0] == results[1]


@pytest.mark.parametrize("mask", _MASKS)
@pytest.mark.parametrize("name", [*_REDUCTIONS, *_SAME_SHAPE])
def test_another_dtype_for_the_result(name: str, mask: Any) -> None:
    """The results are cast. What is left out is chosen by the dtype of the input."""
    for dtype in ("int16", "int32", "bool", "float32"):
        _compare(name, mask, dtype, 1, cast="float64")
        _compare(name, mask, dtype, 1)


_INPUTS = {"matrix": lambda t, dtype: t.tensor(_X).to(dtype), "number": lambda t, dtype: t.tensor(2.0).to(dtype),
           "empty": lambda t, dtype: t.zeros(0, 3, dtype=dtype)}
_DIMS = (None, 0, 1, -1, (), (0, 1), (1, 0), (-1, -1), (0, -2), (0, 0), 5)


def _named(node: Any) -> Any:
    return node and (node.name(), [_named(before) for before, _ in node.next_functions])


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "int32", "bool"])
@pytest.mark.parametrize("kind", _INPUTS)
@pytest.mark.parametrize("name", _REDUCTIONS)
def test_nodes_and_errors(name: str, kind: str, dtype: str) -> None:
    """All nodes have PyTorch's names, and errors PyTorch's text, with and without a mask."""
    def seen(torch: Any, dim: Any, masked: bool, order: float | None, cast: str | None) -> Any:
        x = _INPUTS[kind](torch, getattr(torch, dtype))
        x.requires_grad_(x.is_floating_point() or x.is_complex())
        options: dict[str, Any] = {} if cast is None else {"dtype": getattr(torch, cast)}
        first = (order,) if name == "norm" else ()
        try:
            out = getattr(torch.masked, name)(x, *first, dim, mask=x.detach() == x if masked else None, **options)
        except Exception as error:
            return type(error), str(error).split("\n")[0]
        return _named(out.grad_fn), out.requires_grad, out is x, str(out.dtype).split(".")[-1], out.stride()

    for dim in _DIMS:
        if name.startswith("arg") and isinstance(dim, tuple):
            continue
        twice = dim in ((-1, -1), (0, -2))                 # beside which there must be no second error
        if kind == "empty" and name in ("amax", "amin", "norm") and (twice or dtype == "complex64"):
            continue
        for masked in (False, True):
            for order in (2.0, 0.0, -float("inf"), None) if name == "norm" else (2.0,):
                for cast in (None,) if name == "norm" and twice else (None, "float64", "int64"):
                    given = dim, masked, order, cast
                    assert seen(retrograd, *given) == seen(pytorch, *given), given
