"""An `out` that is an operand, or has another type than the result: the results and errors are PyTorch's."""

import warnings
from typing import Any

import pytest
import torch

import retrograd

ELEMENTWISE = ["add(x, y, out=x)", "add(y, x, out=x)", "sub(x, y, out=x)", "mul(x, y, out=x)", "div(x, y, out=x)",
               "pow(x, y, out=x)", "maximum(x, y, out=x)", "fmod(x, y, out=x)", "heaviside(x, y, out=x)",
               "eq(x.bool(), y.bool(), out=x)", "lerp(x, y, 0.5, out=x)", "addcmul(x, y, y, out=x)",
               "where(y > 0, x, y, out=x)", "clamp(x, y, y, out=x)", "remainder(x, y, out=x)", "neg(x, out=x)"]
OTHERS = ["cumsum(x, 0, out=x)", "index_select(x, 0, t.tensor([0, 0]), out=x)", "outer(x[0], x[0], out=x[0])",
          "addmm(x, y, t.ones(3, 3), out=x)"]
SHAPES = [(1, 3), (2, 3), (3,), (), (2, 1), (0, 3)]


def seen(t: Any, call: str, x: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                     # outputs that are resized
        try:
            found = eval(f"t.{call}", {"t": t, "x": x, "y": y})
        except (RuntimeError, IndexError) as error:
            return type(error), str(error).partition("\n")[0], x.tolist()
    return str(found.dtype).partition(".")[2], tuple(found.shape), found.tolist(), tuple(x.shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("call", ELEMENTWISE)
def test_an_operand_is_not_resized(call: str, shape: tuple[int, ...]) -> None:
    theirs, ours = [seen(t, call, t.full(shape, 2.0), t.full((2, 3), 3.0)) for t in (torch, retrograd)]
    assert ours == theirs


@pytest.mark.parametrize("call", OTHERS)
def test_functions_that_are_not_elementwise(call: str) -> None:
    theirs, ours = [seen(t, call, t.full((2, 3), 2.0), t.full((2, 3), 3.0)) for t in (torch, retrograd)]
    assert ours == theirs


TYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]


# Of two complex types, PyTorch refuses the other one, although it takes any real one.
@pytest.mark.parametrize(("given", "out"), [(given, out) for given in ("int64", "float32", "float64", *TYPES[-2:])
                                            for out in TYPES if {given, out} != {*TYPES[-2:]}])
def test_absolute_values_of_other_types(given: str, out: str) -> None:
    theirs, ours = [seen(t, f"abs(y, out=t.empty(2, dtype=t.{out}))", t.zeros(2), t.tensor(
        [3, -4]).to(getattr(t, given))) for t in (torch, retrograd)]
    assert ours == theirs


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("start", [-400, 0, 0.5])
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_ranges_of_bools(name: str, start: float, count: int) -> None:
    def found(t: Any) -> Any:
        try:
            return getattr(t, name)(start, 1, count, dtype=t.bool).tolist()
        except NotImplementedError as error:
            return str(error)

    assert found(retrograd) == found(torch)
