"""Elementwise operators without PyTorch: values known in closed form, types, kinks, operators, in place, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch
from op_table.queries import elementwise

INF, NAN = math.inf, math.nan
finite = st.floats(-1e3, 1e3, allow_nan=False)


def leaf(*values: Any, dtype: Any = torch.float64) -> torch.Tensor:
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def gradients(f: Callable[..., Any], *leaves: torch.Tensor) -> list[list[float]]:
    return [g.tolist() for g in torch.autograd.grad(f(*leaves).sum(), leaves)]


def same(found: list[float], expected: list[float]) -> None:
    np.testing.assert_array_equal(np.array(found), np.array(expected))


ALSO_IN_MATH = ("erf", "erfc", "exp", "expm1", "log1p", "sqrt", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
                "asinh")


@pytest.mark.parametrize("name", ALSO_IN_MATH)
def test_functions_of_the_c_library(name: str) -> None:
    points = [0.0, 1e-300, 1e-9, 0.1, 0.4999, 0.5, 1.0, 1.7, 3.3, 5.9, 7.0]
    for point in points:
        expected = getattr(math, name)(point)
        found = getattr(torch, name)(torch.tensor(point, dtype=torch.float64)).item()
        assert found == pytest.approx(expected, rel=1e-15, abs=0)


@given(st.floats(-6, 6))
def test_erf_is_odd_and_completes_erfc(x: float) -> None:
    t = torch.tensor(x, dtype=torch.float64)
    assert torch.erf(-t).item() == -torch.erf(t).item()
    assert (torch.erf(t) + torch.erfc(t)).item() == pytest.approx(1.0, abs=1e-15)
    assert torch.erf(t).item() == pytest.approx(math.erf(x), rel=1e-15)


@given(st.floats(-0.999999, 0.999999))
def test_erfinv_undoes_erf(y: float) -> None:
    x = torch.erfinv(torch.tensor(y, dtype=torch.float64))
    assert torch.erf(x).item() == pytest.approx(y, rel=4e-15, abs=1e-300)


@given(finite, finite)
def test_a_division_and_what_it_leaves_make_the_dividend(x: float, y: float) -> None:
    a, b = torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
    if abs(y) < 1e-3:
        return
    assert (a // b * b + a % b).item() == pytest.approx(x, abs=1e-9)
    # The quotient is rounded before it is cut off, so 1 / 0.001 is 1000 where fmod still finds a rest of almost 0.001.
    beyond = (torch.div(a, b, rounding_mode="trunc") * b + torch.fmod(a, b)).item() - x
    assert min(abs(beyond), abs(abs(beyond) - abs(y))) < 1e-9


@given(st.integers(-100, 100), st.integers(-20, 20).filter(bool))
def test_integers_divide_as_pythons_do(x: int, y: int) -> None:
    a, b = torch.tensor(x), torch.tensor(y)
    assert (a // b).item() == x // y
    assert (a % b).item() == x % y
    assert torch.div(a, b, rounding_mode="trunc").item() == int(x / y)
    assert torch.fmod(a, b).item() == int(math.fmod(x, y))


@pytest.mark.parametrize(("f", "expected"), [
    (torch.abs, [0.0, 0.0, -1.0, 1.0, 0.0]),
    (torch.relu, [0.0, 0.0, 0.0, 1.0, 1.0]),
    (torch.sign, [0.0, 0.0, 0.0, 0.0, 0.0]),
    (lambda x: x.clamp(0, 1), [1.0, 1.0, 0.0, 1.0, 0.0]),
    (lambda x: x.clamp_min(0), [1.0, 1.0, 0.0, 1.0, 0.0]),
    (torch.sqrt, [INF, -INF, NAN, 0.5, NAN]),
    (lambda x: x ** 2, [0.0, 0.0, -2.0, 2.0, NAN]),
    (lambda x: x ** 0, [0.0, 0.0, 0.0, 0.0, 0.0]),
    (torch.nan_to_num, [1.0, 1.0, 1.0, 1.0, 0.0]),
])
def test_gradients_at_kinks(f: Callable[..., Any], expected: list[float]) -> None:
    same(gradients(f, leaf(0.0, -0.0, -1.0, 1.0, NAN))[0], expected)


def test_equals_share_the_gradient_of_maximum_but_not_of_fmax() -> None:
    assert gradients(torch.maximum, leaf(1.0, 2.0), leaf(1.0, 3.0)) == [[0.5, 0.0], [0.5, 1.0]]
    assert gradients(torch.minimum, leaf(1.0, 2.0), leaf(1.0, 3.0)) == [[0.5, 1.0], [0.5, 0.0]]
    assert gradients(torch.fmax, leaf(1.0, NAN), leaf(1.0, 3.0)) == [[1.0, 0.0], [0.0, 1.0]]


def test_the_gradient_of_a_power_where_the_base_is_zero() -> None:
    by_base, by_exponent = gradients(torch.pow, leaf(0.0, 0.0, 0.0), leaf(0.0, 1.0, 2.0))
    assert by_base == [0.0, 1.0, 0.0]
    assert by_exponent == [0.0, 0.0, 0.0]


def test_where_lets_no_nan_of_the_other_branch_through() -> None:
    x = leaf(-1.0, 4.0)
    assert gradients(lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), 0.0), x) == [[0.0, 0.25]]


@pytest.mark.parametrize(("source", "dtype"), [
    ("i + 1", "int64"), ("i + 1.0", "float32"), ("i + True", "int64"), ("b + 1", "int64"), ("b + 1.0", "float32"),
    ("b + True", "bool"), ("i + 1j", "complex64"), ("f + 1j", "complex64"), ("f + 1", "float32"),
    ("h * 2.5", "float16"),
    ("i / i", "float32"), ("i // 2", "int64"), ("i ** 2", "int64"), ("i ** 2.0", "float32"), ("b ** 2", "int64"),
    ("f + d", "float64"), ("f + d[0]", "float32"), ("i + d[0]", "float64"), ("h + i", "float16"), ("u + i[0]", "uint8"),
    ("torch.exp(i)", "float32"), ("torch.abs(f * 1j)", "float32"), ("f > 0", "bool"), ("i & 1", "int64"),
    ("torch.where(b, f, 1)", "float32"), ("torch.where(b, i, 1.5)", "float32"), ("torch.where(b, 1, 2)", "int64"),
    ("torch.clamp(i, 0.5, 2)", "float32"), ("torch.square(b)", "int64"), ("torch.float_power(f, 2)", "float64"),
])
def test_types_of_results(source: str, dtype: str) -> None:
    made = {"f": torch.tensor([1.0, 2.0]), "d": torch.tensor([1.0, 2.0], dtype=torch.float64),
            "h": torch.tensor([1.0, 2.0], dtype=torch.float16), "i": torch.tensor([1, 2]),
            "u": torch.tensor([1, 2], dtype=torch.uint8), "b": torch.tensor([True, False])}
    for _ in range(2):                          # the second time, the number has been seen, also with other types
        assert str(eval(source, {"torch": torch, **made}).dtype) == f"torch.{dtype}"


def test_small_integers_wrap_around() -> None:
    assert (torch.tensor([250], dtype=torch.uint8) + 300).tolist() == [38]
    assert (torch.tensor([5, 7], dtype=torch.uint8) - 8).tolist() == [253, 255]


@pytest.mark.parametrize(("source", "error", "text"), [
    ("b - b", RuntimeError, "Subtraction, the `-` operator, with two bool tensors is not supported"),
    ("b - 1", RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported"),
    ("1 - b", RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported"),
    ("-b", RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported"),
    ("i // 0", RuntimeError, "ZeroDivisionError"),
    ("i % 0", RuntimeError, "ZeroDivisionError"),
    ("i ** -1", RuntimeError, "Integers to negative integer powers are not allowed"),
    ("i + 2 ** 70", OverflowError, "int too big to convert"),
    ("f + 2 ** 64", OverflowError, "int too big to convert"),
    ("2 ** 70 - f", OverflowError, "int too big to convert"), ("2 ** 64 % i", OverflowError, "int too big to convert"),
    ("(2 ** 64) ** f", OverflowError, "int too big to convert"),
    ("f + (-2 ** 63 - 1)", OverflowError, "can't convert negative int to unsigned"),
    ("f + 'a'", TypeError, "unsupported operand type"),
    ("f < None", TypeError, "not supported between instances"),
    ("f & 1", NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    ("~f", TypeError, "is only implemented on integer and Boolean-type tensors"),
    ("(f * 1j) < 1", NotImplementedError, "\"lt_cpu\" not implemented for 'ComplexFloat'"),
    ("f + torch.ones(3)", RuntimeError, "The size of tensor a \\(2\\) must match the size of tensor b \\(3\\)"),
    ("torch.clamp(f)", RuntimeError, "At least one of 'min' or 'max' must not be None"),
    ("torch.maximum(f, 1)", TypeError, "argument 'other' \\(position 2\\) must be Tensor, not int"),
    ("torch.where(f, f, f)", RuntimeError, "where expected condition to be a boolean tensor"),
    ("torch.div(f, f, rounding_mode='up')", RuntimeError, "rounding_mode to be one of None, 'trunc', or 'floor'"),
    ("torch.add(i, i, alpha=1.5)", RuntimeError, "argument alpha must not be a floating point number"),
    ("torch.lerp(f, i, 0.5)", RuntimeError, "expected dtype float for `end` but got dtype long int"),
    ("i.add_(1.5)", RuntimeError, "result type Float can't be cast to the desired output type Long"),
    ("f.fill_(1j)", RuntimeError, "value cannot be converted to type float without overflow"),
    ("f.imag", RuntimeError, "imag is not implemented for tensors with non-complex dtypes"),
    ("torch.allclose(f, i)", RuntimeError, "Float did not match Long"),
])
def test_refusals(source: str, error: type[Exception], text: str) -> None:
    names = {"torch": torch, "f": torch.tensor([1.0, 2.0]), "i": torch.tensor([1, 2]), "b": torch.tensor([True, False])}
    with pytest.raises(error, match=text):
        eval(source, names)
    assert names["f"].tolist() == [1.0, 2.0]
    assert names["i"].tolist() == [1, 2]


def test_a_tensor_is_a_key_by_identity() -> None:
    a, b = torch.tensor([1.0]), torch.tensor([1.0])
    assert {a: 1, b: 2}[a] == 1
    assert (a == None) is False  # noqa: E711
    assert (a != "a") is True


def test_silence_on_what_has_no_value() -> None:
    x = torch.tensor([0.0, -1.0])
    same(torch.log(x).tolist(), [-INF, NAN])
    same((x / 0).tolist(), [NAN, -INF])
    same((x // 0).tolist(), [NAN, -INF])


def test_names_in_the_graph() -> None:
    x = leaf(0.5)
    names = {
        "1 - x": "RsubBackward1", "2 / x": "MulBackward0", "x ** 2": "PowBackward0", "x ** x": "PowBackward1",
        "2 ** x": "PowBackward2", "x.square()": "PowBackward0", "x // 2": "torch::autograd::NotImplemented",
        "x % 2": "RemainderBackward0",
        "x.clamp(0, 1)": "ClampBackward1", "x.clamp(min=x.detach())": "ClampBackward0", "x.log1p()": "Log1PBackward0",
        "torch.div(x, 2, rounding_mode='floor')": "DivBackward2", "torch.lerp(x, x, 0.5)": "LerpBackward0",
        "(x * 1).zero_()": "ZeroBackward0", "(x * 1).fill_(2)": "FillBackward2",
        "(x * 1).copy_(x)": "torch::autograd::CopyBackwards",
    }
    for source, name in names.items():
        assert eval(source, {"torch": torch, "x": x}).grad_fn.name() == name


def test_what_is_not_differentiable_says_so() -> None:
    x = leaf(0.5)
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (x // 2).backward(torch.ones(1, dtype=torch.float64))


def test_in_place_is_the_same_object_and_is_recorded() -> None:
    x = leaf(1.0, 2.0)
    work = before = x * 1
    work += 1
    work *= x
    work **= 2
    work -= 1
    work /= 2
    assert work is before
    assert gradients(lambda _: work, x) == [[6.0, 30.0]]                # x (x + 1) (2 x + 1)


def test_copy_replaces_the_history() -> None:
    x, y = leaf(1.0, 2.0), leaf(5.0)
    work = x * 3
    work.copy_(y)
    assert work.tolist() == [5.0, 5.0]
    assert gradients(lambda *_: work, x, y) == [[0.0, 0.0], [2.0]]


def test_fill_with_a_tensor_sends_it_the_gradient() -> None:
    x, value = leaf(1.0, 2.0, 3.0), torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
    work = (x * 1).fill_(value)
    assert [g.tolist() for g in torch.autograd.grad(work.sum(), (x, value))] == [[0.0, 0.0, 0.0], 3.0]


def test_two_orders_through_a_write_to_a_view() -> None:
    x = leaf(2.0, 3.0)
    work = x * 1
    work[1:].mul_(x[1:])
    (first,) = torch.autograd.grad(work.sum(), x, create_graph=True)
    assert first.tolist() == [1.0, 6.0]
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [0.0, 2.0]


def test_parts_of_complex_numbers_are_views() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    z.real.mul_(2)
    assert z.tolist() == [2 + 2j, 6 - 1j]
    assert torch.view_as_complex(torch.view_as_real(z)).tolist() == z.tolist()


@given(st.complex_numbers(min_magnitude=0.1, max_magnitude=10), st.complex_numbers(min_magnitude=0.1, max_magnitude=10))
def test_complex_gradients_are_conjugates_of_the_derivative(z: complex, w: complex) -> None:
    a = torch.tensor(z, dtype=torch.complex128, requires_grad=True)
    b = torch.tensor(w, dtype=torch.complex128, requires_grad=True)
    (a / b).backward(torch.tensor(1 + 0j, dtype=torch.complex128))
    assert a.grad.item() == pytest.approx((1 / w).conjugate())
    assert b.grad.item() == pytest.approx((-z / w ** 2).conjugate(), rel=1e-9)


def test_numpy_functions_are_operators() -> None:
    x = leaf(0.5, -2.0)
    for f in (lambda x: np.where(x > 0, x, 0.0), lambda x: np.maximum(x, 0.0), lambda x: np.clip(x, 0, None),
              lambda x: np.power(np.abs(x), 2.0) * np.sign(x), lambda x: np.exp(np.real(x))):
        assert isinstance(f(x), torch.Tensor)
        assert f(x).requires_grad
        assert f(x).tolist() == np.asarray(f(x.detach().numpy())).tolist()


def test_parts_of_a_complex_tensor_can_be_assigned() -> None:
    z = torch.tensor([1 + 2j, 3 + 4j])
    z.real = torch.tensor([5.0, 6.0])
    z.imag = 7.0
    assert z.tolist() == [5 + 7j, 6 + 7j]
    x = torch.zeros(2)
    x.real = torch.ones(2)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", [*elementwise(1, domain="float"), "erf", "erfc", "lgamma", "digamma", "i0"])
def test_whole_numbers_become_floats_of_the_default_dtype(name: str) -> None:
    for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool):
        assert getattr(torch, name)(torch.ones(2, dtype=dtype)).dtype is torch.float32


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool, torch.float16])
def test_types_that_need_no_promotion_are_computed_with_again(dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1], dtype=dtype)
    for _ in range(2):                                       # the second call knows the type
        assert (x <= 1).tolist() == [True, True]
        assert (x > 0).tolist() == [False, True]
        assert (x <= x).dtype == torch.bool
        assert (x + 1.5).dtype == (dtype if dtype.is_floating_point else torch.float32)
    with pytest.raises(NotImplementedError, match="'ComplexFloat'"):
        _ = torch.tensor([1j]) <= torch.tensor([1j])
    with pytest.raises(NotImplementedError, match="'Float'"):
        _ = torch.ones(1) & torch.ones(1)


def test_zeros_beside_tensors_keep_their_signs() -> None:
    x = torch.tensor([1.0])
    for zero, sign in ((0, 1), (0.0, 1), (-0.0, -1), (False, 1), (0, 1)):
        assert math.copysign(1, (x * zero).item()) == sign
    assert (torch.tensor([3]) * 0).dtype == torch.int64
    assert (x * 0).dtype == torch.float32


def test_the_gradient_of_an_angle() -> None:
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    x.angle().sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 0]                     # the angle of a real number is 0 or pi
    z = torch.tensor([3 + 4j, 0j, -2j], dtype=torch.complex128, requires_grad=True)
    z.angle().sum().backward()
    assert z.grad is not None
    assert z.grad.tolist() == pytest.approx([1j * (3 + 4j) / 25, 0, 1j * -2j / 4])
