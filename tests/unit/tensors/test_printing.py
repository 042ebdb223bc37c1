"""What tensors print: texts recorded from PyTorch 2.13, and properties that hold for any array and any options."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy import inf, nan

from retrograd.foundations import dtypes
from retrograd.tensors.face import printing

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _defaults_restored() -> Iterator[None]:
    yield
    printing.set_printoptions(profile="default")
    dtypes.set_default_dtype(dtypes.float32)


def f32(values: Any) -> Array:
    return np.asarray(values, np.float32)


def c64(values: Any) -> Array:
    return np.asarray(values, np.complex64)


def case(values: Any, text: str, options: dict[str, Any] | None = None, facts: dict[str, Any] | None = None) -> Any:
    """A text of one line, or of several, which then begin in the line after the quotes."""
    name = f"{text.strip().splitlines()[0]} {options or ''}"
    return pytest.param(np.asarray(values), text.removeprefix("\n"), options or {}, facts or {}, id=name)


RECORDED = [
    # whole numbers
    case(f32(1.0), "tensor(1.)"),
    case(f32([1, 2]), "tensor([1., 2.])"),
    case(f32([-0.0, 0.0]), "tensor([-0., 0.])"),
    case(f32([1, 1000]), "tensor([   1., 1000.])"),
    case(f32([1, 1001]), "tensor([1.0000e+00, 1.0010e+03])"),
    case(f32([1e8]), "tensor([100000000.])"),
    case(f32([1.1e8]), "tensor([1.1000e+08])"),
    case(np.array([2.0**53, 2.0**54]), "tensor([9.0072e+15, 1.8014e+16], dtype=torch.float64)"),
    # fractions
    case(f32([0.5, -1234.5678]), "tensor([ 5.0000e-01, -1.2346e+03])"),
    case(f32([1, 1000.5]), "tensor([1.0000e+00, 1.0005e+03])"),
    case(np.array([99999.5, 100000.5]), "tensor([ 99999.5000, 100000.5000], dtype=torch.float64)"),
    case(np.array([1e-4]), "tensor([0.0001], dtype=torch.float64)"),
    case(f32([1e-4]), "tensor([1.0000e-04])"),
    case(np.array([1.00006, 1000.0]), "tensor([   1.0001, 1000.0000], dtype=torch.float64)"),
    case(f32(0.1), "tensor(0.1000)"),
    case(f32([1e-45]), "tensor([1.4013e-45])"),
    case(np.array([5e-324, 1e308]), "tensor([4.9407e-324, 1.0000e+308], dtype=torch.float64)"),
    case(np.array([1e-320]), "tensor([9.9999e-321], dtype=torch.float64)"),
    case(np.float16([0.1, 65504]), "tensor([9.9976e-02, 6.5504e+04], dtype=torch.float16)"),
    case(np.float16([6e-8]), "tensor([5.9605e-08], dtype=torch.float16)"),
    # what is not finite
    case(f32(nan), "tensor(nan)"),
    case(f32([nan, 1]), "tensor([nan, 1.])"),
    case(f32([-inf, 0.5]), "tensor([  -inf, 0.5000])"),
    case(f32([inf, -inf, nan, 0]), "tensor([inf, -inf, nan, 0.])"),
    case(f32([[nan, 1.5], [0, -1001]]), """
tensor([[       nan,     1.5000],
        [    0.0000, -1001.0000]])"""),
    case(f32([nan, 1e9]), "tensor([       nan, 1.0000e+09])"),
    case(np.array([0x7FA00000], np.uint32).view(np.float32), "tensor([nan])"),  # a nan that signals
    # complex
    case(c64([1 + 10j, -2.5 - 3j]), "tensor([ 1.0000+10.j, -2.5000-3.j])"),
    case(c64([1]), "tensor([1.+0.j])"),
    case(c64(complex(nan, -inf)), "tensor(nan-infj)"),
    case(c64([complex(-0.0, -0.0), complex(inf, -2.5)]), "tensor([-0.-0.0000j, inf-2.5000j])"),
    case(np.array([1e10 + 1e-5j, 1 + 1j]), """
tensor([1.0000e+10+1.0000e-05j, 1.0000e+00+1.0000e+00j],
       dtype=torch.complex128)"""),
    case(c64([0.5 + 1.5j, -1 + 1000j]), "tensor([ 0.5000+1.5000j, -1.0000+1000.0000j])"),
    # integers and bool
    case(np.array(7), "tensor(7)"),
    case(np.array([-5, 300, 0]), "tensor([ -5, 300,   0])"),
    case(np.array([-(2**63), 2**63 - 1]), "tensor([-9223372036854775808,  9223372036854775807])"),
    case(np.uint8([1, 200]), "tensor([  1, 200], dtype=torch.uint8)"),
    case(np.array([True, False]), "tensor([ True, False])"),
    case(np.array([[True], [True]]), """
tensor([[True],
        [True]])"""),
    case(np.int8([[1, -100], [7, 8]]), """
tensor([[   1, -100],
        [   7,    8]], dtype=torch.int8)"""),
    # nothing
    case(f32([]), "tensor([])"),
    case(np.zeros((0, 3), np.float32), "tensor([], size=(0, 3))"),
    case(
        np.zeros((2, 0)), "tensor([], size=(2, 0), dtype=torch.float64, requires_grad=True)",
        facts={"requires_grad": True},
    ),
    case(np.zeros(0, np.int64), "tensor([], dtype=torch.int64)"),
    case(np.zeros((0, 1), bool), "tensor([], size=(0, 1), dtype=torch.bool)"),
    case(np.zeros(0, np.complex64), "tensor([], dtype=torch.complex64)"),
    # dimensions
    case(f32([[1, 2], [3, 4]]), """
tensor([[1., 2.],
        [3., 4.]])"""),
    case(np.arange(8).reshape(2, 2, 2), """
tensor([[[0, 1],
         [2, 3]],

        [[4, 5],
         [6, 7]]])"""),
    case(np.arange(4).reshape(2, 1, 2, 1), """
tensor([[[[0],
          [1]]],


        [[[2],
          [3]]]])"""),
    case(np.ones((1, 1, 1, 1, 1), np.float32), "tensor([[[[[1.]]]]])"),
    # long rows
    case(np.arange(28), """
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27])"""),
    case(np.arange(22) / 4, """
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,
        2.2500, 2.5000, 2.7500, 3.0000, 3.2500, 3.5000, 3.7500, 4.0000, 4.2500,
        4.5000, 4.7500, 5.0000, 5.2500], dtype=torch.float64)"""),
    case(f32(np.full((2, 14), 0.33)), """
tensor([[0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300,
         0.3300, 0.3300, 0.3300, 0.3300, 0.3300],
        [0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300, 0.3300,
         0.3300, 0.3300, 0.3300, 0.3300, 0.3300]])"""),
    case(f32(np.zeros(40)), """
tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.,
        0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.])"""),
    case(c64(np.arange(6) + 0.5j), """
tensor([0.+0.5000j, 1.+0.5000j,
        2.+0.5000j, 3.+0.5000j,
        4.+0.5000j, 5.+0.5000j])""", options={"linewidth": 37}),
    case(np.arange(3) + 10**9, """
tensor([1000000000,
        1000000001,
        1000000002])""", options={"linewidth": 1}),
    # summaries
    case(np.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    case(f32(np.arange(1001)) / 4, "tensor([  0.0000,   0.2500,   0.5000,  ..., 249.5000, 249.7500, 250.0000])"),
    case(np.arange(2100).reshape(7, 300), """
tensor([[   0,    1,    2,  ...,  297,  298,  299],
        [ 300,  301,  302,  ...,  597,  598,  599],
        [ 600,  601,  602,  ...,  897,  898,  899],
        ...,
        [1200, 1201, 1202,  ..., 1497, 1498, 1499],
        [1500, 1501, 1502,  ..., 1797, 1798, 1799],
        [1800, 1801, 1802,  ..., 2097, 2098, 2099]])"""),
    case(np.arange(49).reshape(7, 7), """
tensor([[ 0,  ...,  6],
        ...,
        [42,  ..., 48]])""", options={"threshold": 10, "edgeitems": 1}),
    case(np.arange(54).reshape(3, 6, 3), """
tensor([[[ 0,  ...,  2],
         ...,
         [15,  ..., 17]],

        ...,

        [[36,  ..., 38],
         ...,
         [51,  ..., 53]]])""", options={"threshold": 5, "edgeitems": 1}),
    case(np.arange(100) + 100000, """
tensor([100000, 100001,
        100002,  ...,
        100097, 100098,
        100099])""", options={"threshold": 10, "linewidth": 30}),
    case(np.arange(8), "tensor([...], size=(8,))", options={"threshold": 4, "edgeitems": 0}),
    case(np.ones((2, 2)), """
tensor([[1., 1.],
        [1., 1.]], size=(2, 2), dtype=torch.float64, requires_grad=True)""",
         options={"edgeitems": 0}, facts={"requires_grad": True}),
    case(np.array(1.5), "tensor(1.5000, dtype=torch.float64)", options={"threshold": 0}),
    case(f32(1.5), "tensor(1.5000, size=())", options={"threshold": 0, "edgeitems": 0}),
    case(np.arange(12).reshape(2, 6), """
tensor([[ 0,  1,  2,  3,  4,  5],
        [ 6,  7,  8,  9, 10, 11]])""", options={"threshold": 11, "edgeitems": 3}),
    # options
    case(f32([1, 2.25, nan]), "tensor([1.00, 2.25,  nan])", options={"precision": 2}),
    case(f32([0.4, 1.6]), "tensor([0, 2])", options={"precision": 0}),
    case(f32([1, 2]), "tensor([1.0000e+00, 2.0000e+00])", options={"sci_mode": True}),
    case(f32([0, 0]), "tensor([0., 0.])", options={"sci_mode": True}),
    case(f32([1, 1e5]), "tensor([     1., 100000.])", options={"sci_mode": False}),
    case(f32([1.5, 1e9]), "tensor([         1.5000, 1000000000.0000])", options={"sci_mode": False}),
    case(f32([1.5, nan]), "tensor([1.5000e+00,        nan])", options={"sci_mode": True}),
    case(f32([1.5]), "tensor([1.5000000000])", options={"precision": 10}),
    case(f32(np.arange(1001)), "tensor([   0.,    1.,  ...,  999., 1000.])", options={"profile": "short"}),
    # what follows the elements
    case(np.ones(3), "tensor([1., 1., 1.], dtype=torch.float64)"),
    case(f32([1, 2]), "tensor([1., 2.], requires_grad=True)", facts={"requires_grad": True}),
    case(
        f32([1, 2]), "tensor([1., 2.], grad_fn=<MulBackward0>)",
        facts={"requires_grad": True, "grad_fn_name": "MulBackward0"},
    ),
    case(np.ones(2), """
tensor([1., 1.],
       dtype=torch.float64,
       grad_fn=<MulBackward0>)""", options={"linewidth": 30}, facts={"grad_fn_name": "MulBackward0"}),
    case(np.zeros(1001), """
tensor([0., 0., 0.,  ..., 0., 0., 0.], dtype=torch.float64,
       grad_fn=<MulBackward0>)""", facts={"grad_fn_name": "MulBackward0"}),
    case(f32(np.arange(17)), """
tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13., 14., 15.,
        16.], requires_grad=True)""", options={"linewidth": 90}, facts={"requires_grad": True}),
    case(f32([1, 2]), "tensor([1., 2.], requires_grad=True)", options={"linewidth": 37}, facts={"requires_grad": True}),
    case(f32([1, 2]), """
tensor([1., 2.],
       requires_grad=True)""", options={"linewidth": 36}, facts={"requires_grad": True}),
]


@pytest.mark.parametrize(("array", "text", "options", "facts"), RECORDED)
def test_the_text_is_what_pytorch_prints(
    array: Array, text: str, options: dict[str, Any], facts: dict[str, Any]
) -> None:
    printing.set_printoptions(**options)
    assert printing.repr_of(array, **facts) == text


@pytest.mark.parametrize(
    ("default", "plain"),
    [("float16", "float16 complex64"), ("float32", "float32 complex64"), ("float64", "float64 complex128")],
)
def test_the_types_that_python_numbers_make_are_not_named(default: str, plain: str) -> None:
    dtypes.set_default_dtype(getattr(dtypes, default))
    unnamed = {kind.name for kind in dtypes.ALL if "dtype" not in printing.repr_of(np.ones(1, kind.dtype))}
    assert unnamed == {*plain.split(), "int64", "bool"}
    unnamed_if_empty = {kind.name for kind in dtypes.ALL if "dtype" not in printing.repr_of(np.ones(0, kind.dtype))}
    assert unnamed_if_empty == {default}


def test_size_then_dtype_then_history() -> None:
    text = printing.repr_of(np.ones((2, 0)), grad_fn_name="MulBackward0")
    assert text == "tensor([], size=(2, 0), dtype=torch.float64, grad_fn=<MulBackward0>)"


def test_a_type_that_only_the_text_knows() -> None:
    array = np.array([2**64 - 1], np.uint64)
    text = printing.format_tensor(array, dtype_name="torch.uint64", show_dtype=True)
    assert text == "tensor([18446744073709551615], dtype=torch.uint64)"


def test_a_subclass_moves_the_lines_that_follow() -> None:
    text = printing.repr_of(np.ones((2, 2)), prefix="My(")
    assert text == "My([[1., 1.],\n    [1., 1.]], dtype=torch.float64)"


def test_parameters_say_that_they_are() -> None:
    assert printing.parameter_text("tensor([1.])") == "Parameter containing:\ntensor([1.])"


def test_options_stay_until_they_are_set_again_but_for_sci_mode() -> None:
    printing.set_printoptions(precision=2, sci_mode=True)
    printing.set_printoptions(linewidth=100)
    expected = {"precision": 2, "threshold": 1000, "edgeitems": 3, "linewidth": 100, "sci_mode": None}
    assert printing.get_printoptions() == expected
    printing.set_printoptions(profile="full", edgeitems=5)
    expected = {"precision": 4, "threshold": inf, "edgeitems": 5, "linewidth": 80, "sci_mode": None}
    assert printing.get_printoptions() == expected


def test_options_of_a_with_statement_end_with_it() -> None:
    printing.set_printoptions(precision=3, sci_mode=True)
    before = printing.get_printoptions()
    with printing.printoptions(profile="short"):
        assert printing.get_printoptions()["precision"] == 2
    assert printing.get_printoptions() == before
    with pytest.raises(ZeroDivisionError), printing.printoptions(profile="short"):
        raise ZeroDivisionError
    assert printing.get_printoptions() == before


def test_a_summary_does_not_look_at_what_it_hides() -> None:
    array = np.broadcast_to(f32(1), (10**6, 10**6))  # a single number in memory; a pass over it would take minutes
    row = "[1., 1., 1.,  ..., 1., 1., 1.]"
    lines = ",\n        ".join([row, row, row, "...", row, row, row])
    assert printing.repr_of(array) == f"tensor([{lines}])"


def summary(nested: Any, edge: int) -> Any:
    """Nested lists as a summary shows them, with Python's own ellipsis."""
    if not isinstance(nested, list):
        return nested
    hidden = len(nested) > 2 * edge
    shown = [*nested[:edge], ..., *nested[-edge:]] if hidden else nested
    return [summary(item, edge) for item in shown]


shapes = hnp.array_shapes(min_dims=0, max_dims=4, max_side=8)
integers = hnp.arrays(st.sampled_from([np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64]), shapes)
linewidths = st.integers(1, 120)


@given(integers, st.integers(0, 60), st.integers(1, 3), linewidths)
def test_integers_read_back_as_they_are(array: Array, threshold: int, edge: int, linewidth: int) -> None:
    printing.set_printoptions(threshold=threshold, edgeitems=edge, linewidth=linewidth)
    text = printing.format_tensor(array, dtype_name="", show_dtype=False, prefix="(")
    nested = array.tolist()
    assert ast.literal_eval(text) == (summary(nested, edge) if array.size > threshold else nested)


def real_numbers(dtypes: Sequence[type], finite: bool = False) -> st.SearchStrategy[Array]:
    elements = {"allow_nan": not finite, "allow_infinity": not finite}
    return hnp.arrays(st.sampled_from(dtypes), shapes, elements=elements, fill=st.nothing())


@given(real_numbers([np.float16, np.float32, np.float64]), st.integers(0, 9), st.sampled_from([None, True, False]))
def test_floats_read_back_to_within_what_is_shown(array: Array, precision: int, sci_mode: bool | None) -> None:
    printing.set_printoptions(profile="full", precision=precision, sci_mode=sci_mode)
    text = printing.format_tensor(array, dtype_name="", show_dtype=False, prefix="(")
    tokens = re.findall(r"[^\s,\[\]()]+", text)
    assert len(tokens) == array.size
    for token, value in zip(tokens, array.ravel().tolist()):
        assert_shows(token, value, precision)


def assert_shows(token: str, value: float, precision: int) -> None:
    """That `token` is `value`, rounded once to the last digit shown; a whole number with a bare point is exact."""
    if not math.isfinite(value):
        assert token == str(value)
        return
    assert token.startswith("-") == (math.copysign(1.0, value) < 0)
    mantissa, _, exponent = token.partition("e")
    assert len(mantissa.partition(".")[2]) == (0 if mantissa.endswith(".") else precision)
    last_digit = Fraction(10) ** (int(exponent or 0) - precision)
    assert abs(Fraction(token) - Fraction(value)) <= (0 if mantissa.endswith(".") else last_digit / 2)


@given(real_numbers([np.float32, np.float64], finite=True) | integers, linewidths, st.booleans())
def test_a_line_is_wider_than_asked_only_for_one_element(array: Array, linewidth: int, requires_grad: bool) -> None:
    assume(array.any() or array.dtype.kind != "f")  # PyTorch takes the zeros of a tensor of zeros for one column wide
    assume(not (np.signbit(array) & (array == 0)).any())  # and has no column for the sign of a zero
    printing.set_printoptions(profile="full", linewidth=linewidth)
    suffixes = ["requires_grad=True"] * requires_grad
    text = printing.format_tensor(array, dtype_name="torch.some", show_dtype=True, suffixes=suffixes)
    for line in text.splitlines():
        if ", " in line:  # what closes the tensor comes on top, as in PyTorch
            assert len(line.rstrip("]),")) <= linewidth


@given(hnp.arrays(np.int64, st.integers(2, 80), elements=st.integers(0, 10**9)), linewidths)
def test_a_line_takes_as_many_elements_as_fit(array: Array, linewidth: int) -> None:
    printing.set_printoptions(linewidth=linewidth)
    width = len(str(array.max()))
    lines = printing.repr_of(array).splitlines()
    for line, _ in pairwise(lines):
        assert len(line) + 1 + width + 1 > linewidth  # with a space, one more element and its comma


@given(hnp.arrays(np.float32, (7, 7)), st.sampled_from([nan, inf, 1e30, -1e-30]))
def test_hidden_elements_have_no_say_in_the_notation(array: Array, hidden: float) -> None:
    printing.set_printoptions(threshold=10, edgeitems=2)
    other = np.full_like(array, hidden)
    for rows in (slice(2), slice(-2, None)):
        for columns in (slice(2), slice(-2, None)):
            other[rows, columns] = array[rows, columns]
    assert printing.repr_of(other) == printing.repr_of(array)


@given(integers.filter(lambda array: array.dtype != np.uint64), st.integers(0, 60), linewidths)
def test_read_only_and_strided_arrays_print_alike(array: Array, threshold: int, linewidth: int) -> None:
    printing.set_printoptions(threshold=threshold, linewidth=linewidth)
    frozen = array.copy()
    frozen.flags.writeable = False
    strided = np.repeat(array[..., None], 2, axis=-1)[..., 1]
    assert printing.repr_of(frozen) == printing.repr_of(array) == printing.repr_of(strided)
