"""Numbers converted to element types: what PyTorch 2.13 makes of them in `full((2,), number)` and in options."""

from __future__ import annotations

import math
from typing import Any

import pytest

import retrograd as torch
from retrograd.foundations.dtypes import dtype as torch_dtype
from retrograd.foundations.scalars import converted, filling

_TOO_LARGE = "value cannot be converted to type {} without overflow"
_BEYOND = {
    "uint8": ("uint8_t", [255.5, -256, -1.0, -0.5, 70000, math.inf, math.nan, 300 + 0j, 1j]),
    "int8": ("int8_t", [128, 127.5, -129, math.nan, 1j]),
    "int64": ("int64_t", [2**63, 1e19, math.inf, 1j]),
    "uint64": ("uint64_t", [-0.5, 3e19, math.nan]),
    "float16": ("c10::Half", [65505, 65504.1, -70000, 1e39, 1j, 3 + 1j]),
    "float32": ("float", [3.41e38, -1e300, 1j]),
    "complex64": ("c10::complex<float>", [1e39, complex(0, 1e39)]),
}
_HELD: list[tuple[str, Any, Any]] = [
    ("uint8", -1, 255), ("uint8", -255, 1), ("uint8", 255.0, 255), ("uint8", 3 + 0j, 3), ("int8", -128.0, -128),
    ("int64", 2.0**63, -2**63), ("int64", -0.5, 0), ("uint64", -1, 2**64 - 1), ("uint64", 2.0**64, 0),
    ("float16", 65504, 65504), ("float16", -math.inf, -math.inf), ("float64", 2**64 - 1, 2.0**64),
    ("complex64", math.inf, math.inf), ("bool", math.nan, True), ("bool", 1j, True), ("bool", 0j, False),
]


@pytest.mark.parametrize("name", _BEYOND)
def test_numbers_beyond_a_type(name: str) -> None:
    shown, numbers = _BEYOND[name]
    for number in numbers:
        with pytest.raises(RuntimeError) as error:
            converted(number, torch_dtype.all[name].dtype)
        assert str(error.value) == _TOO_LARGE.format(shown), number


@pytest.mark.parametrize(("name", "number", "expected"), _HELD)
def test_numbers_that_a_type_holds(name: str, number: Any, expected: Any) -> None:
    found = converted(number, torch_dtype.all[name].dtype)
    assert found == expected
    assert torch.full((2,), number, dtype=torch_dtype.all[name])[0] == expected


@pytest.mark.parametrize(("number", "said"), [
    (2**64, "int too big to convert"), (-2**63 - 1, "can't convert negative int to unsigned")])
def test_ints_of_more_than_64_bits(number: int, said: str) -> None:
    x = torch.ones(2)
    for call in (lambda: torch.full((2,), number), lambda: torch.nn.functional.elu(x, number), lambda: x ** number,
                 lambda: torch.add(x, x, alpha=number), lambda: torch.lerp(x, x, number)):
        with pytest.raises(OverflowError) as error:
            call()
        assert str(error.value) == said


def test_a_single_half_is_filled_by_way_of_double() -> None:
    half = torch.float16.dtype
    assert filling(70000, half, 1) == math.inf
    assert filling(65519.0, half, 1) == 65504.0
    assert torch.full((), -1e39, dtype=torch.float16) == -math.inf
    with pytest.raises(RuntimeError, match="type double without overflow"):
        filling(1j, half, 1)
    with pytest.raises(RuntimeError, match="type c10::Half without overflow"):
        filling(70000, half, 0)


_OF_BYTES = """
torch.where(x > 0, x, 300)
torch.addcmul(x, x, x, value=300)
x.index_add(0, torch.tensor([0]), x[:1], alpha=300)
torch.linspace(0, 300, 3, dtype=torch.int8)
torch.add(x, x, alpha=300)
x.clamp(max=300)
x.scatter(0, torch.tensor([0]), 300)
x.masked_fill(x > 0, torch.tensor(300))
torch.addmm(x.view(1, 2), x.view(2, 1)[:1], x.view(1, 2), alpha=300)
torch.nn.functional.threshold(x, 300, 0)
"""


@pytest.mark.parametrize("source", _OF_BYTES.split("\n")[1:-1])
def test_options_do_not_wrap_around(source: str) -> None:
    with pytest.raises(RuntimeError) as error:
        eval(source, {"torch": torch, "x": torch.tensor([1, -2], dtype=torch.int8)})
    assert str(error.value) == _TOO_LARGE.format("int8_t")


def test_options_of_kernels_for_half() -> None:
    """Kernels compute with halves in float32, but round some options to half first."""
    x, f = torch.tensor([1., -2.], dtype=torch.float16), torch.nn.functional
    assert f.leaky_relu(x * 2**-10, 70000.).tolist() == [2**-10, -136.75]
    assert f.threshold(x, 70000., 0.).tolist() == [0., 0.]
    assert f.softshrink(x, 1 - 2**-12).tolist() == [2**-12, -1.]
    assert f.hardshrink(x, 1 - 2**-13).tolist() == [0., -2.]
    for call in (lambda: f.hardshrink(x, 70000.), lambda: torch.addmv(x, x.view(2, 1), x[:1], alpha=70000.)):
        with pytest.raises(RuntimeError, match="type c10::Half without overflow"):
            call()
    for number in (1e39, 1j):
        with pytest.raises(RuntimeError, match="type float without overflow"):
            f.softplus(x, number)
