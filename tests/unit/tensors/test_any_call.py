"""Any call with any kind of tensor ends with a result or with an error in the words of the public interface."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd._subclasses.fake_tensor import FakeTensorMode

ARGUMENTS = ("", "dense", "other", "2", "0", "0, 1", "narrow", "'a'", "None", "dense, dense", "[1, 2]", "x")
OPERATORS = ("+", "-", "*", "/", "@", "**", "//", "%", "==", "<", "&", "|", "^", "<<", ">>")


class Derived(torch.Tensor):
    """A class with nothing of its own."""


KINDS: dict[str, Callable[[Any], Any]] = {
    "dense": torch.clone, "coordinates": lambda x: x.to_sparse(), "rows": lambda x: x.to_sparse_csr(),
    "meta": lambda x: x.to("meta"), "derived": lambda x: x.as_subclass(Derived), "parameter": torch.nn.Parameter,
    "fake": lambda x: FakeTensorMode().from_tensor(x), "complex": lambda x: x.cfloat(), "one number": torch.sum,
    "empty": lambda x: x[:0]}
# What takes anything, gives PyTorch's AttributeError or AssertionError, or talks of attributes that programs set.
ELSEWHERE = {"apply_", "backward", "cuda", "ipu", "map_", "map2_", "module_load", "mtia", "record_stream",
             "register_hook", "resize_as", "share_memory_", "xpu"}
METHODS = sorted(name for name in dir(torch.Tensor) if not name.startswith("_") and name not in ELSEWHERE
                 and callable(getattr(torch.Tensor, name, None)))
# A name of this package's own, or what Python says of attributes and indices.
INTERNAL = re.compile(r"\b_[a-z]\w*|has no attribute|tuple index|list index|Coo\b|Compressed|Blocks|ndarray|numpy\."
                      r"|<locals>|already entered|\w+Array\b")
# PyTorch's own words with an underscore: of `unique`, and of fake tensors beside others or with unknown sizes.
PYTORCHS = re.compile(r"TypeError: _unique2\(\)|.*'allow_non_fake_inputs'|DynamicOutputShape|DataDependentOutput"
                      r"|.*register_meta function")
# Left as they are: `set_` of another meta tensor; `new_tensor` of a fake tensor, and a size that is no list beside it.
LEFT = {"x.set_(other)", "x.set_(x)", "x.new_full(0, 1)", "x.new_tensor(other)", "x.new_tensor(x)"}


def ends(expression: str, kind: str) -> str:
    """The message of the error that an expression ends with, with its type; "" for a result."""
    x = KINDS[kind](torch.tensor([[1., 0, 2], [0, 0, 3]]))
    try:
        eval(expression, {"torch": torch, "x": x, "other": x.clone(), "dense": torch.ones(2, 3),
                          "narrow": torch.ones(3, 2)})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def internal(message: str) -> bool:
    """Whether a message is of Python or NumPy about this package's own objects."""
    if PYTORCHS.match(message):
        return False
    words = re.sub(r"aten::\w+|torch\.\w+|to numpy\.|'[a-z_0-9]+'|\w+_\(", "", message.split("\n")[0])
    return message.startswith(("AttributeError", "KeyError", "AssertionError")) or INTERNAL.search(words) is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(12)
@pytest.mark.parametrize("given", ARGUMENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_method_shows_an_internal_name(kind: str, given: str) -> None:
    left = LEFT if kind in ("meta", "fake") else {}
    calls = [call for name in METHODS if (call := f"x.{name}({given})") not in left]
    assert {call: said for call in calls if (said := ends(call, kind)) and internal(said)} == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_no_operator_shows_an_internal_name(kind: str) -> None:
    calls = [text for sign in OPERATORS for given in ("dense", "other", "2", "narrow", "None", "'a'")
             for text in (f"x {sign} {given}", f"{given} {sign} x")]
    assert {call: said for call in calls if (said := ends(call, kind)) and internal(said)} == {}


def test_a_reflected_product_of_sparse_tensors_keeps_the_order_of_its_factors() -> None:
    x, y = torch.tensor([[0., 1], [0, 5]]).to_sparse(), torch.tensor([[1., 2], [3, 4]])
    assert x.__rmatmul__(y).tolist() == (y @ x.to_dense()).tolist() == [[0, 11], [0, 23]]
    assert x.__rmatmul__(2) is NotImplemented


def test_meta_tensors_may_have_a_derived_class() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    for made in (x.as_subclass(Derived).to("meta"), x.to("meta").as_subclass(Derived)):
        assert isinstance(made, Derived)
        assert made.is_meta
        assert isinstance(made * 2, Derived)
        assert (made * 2).shape == (2, 3)


def test_words_of_the_internals_are_found() -> None:
    assert internal("AttributeError: 'int' object has no attribute '_array'")
    assert internal("TypeError: _check() takes 1 positional argument but 2 were given")
    assert not internal("TypeError: add_(): argument 'other' (position 1) must be Tensor, not str")
