"""Any call with a sparse tensor ends with a result or with an error in the words of the public interface."""

from __future__ import annotations

import re

import pytest

import retrograd as torch

ARGUMENTS = ("", "dense", "other", "2", "0", "0, 1", "narrow", "'a'", "None", "dense, dense", "[1, 2]", "x")
OPERATORS = ("+", "-", "*", "/", "@", "**", "//", "%", "==", "<", "&", "|", "^", "<<", ">>")
# What takes anything, or talks of attributes that programs set.
ELSEWHERE = {"apply_", "backward", "cuda", "register_hook", "map_", "map2_", "share_memory_", "module_load",
             "record_stream"}
METHODS = sorted(name for name in dir(torch.Tensor) if not name.startswith("_") and name not in ELSEWHERE
                 and callable(getattr(torch.Tensor, name, None)))
# A name of this package's own, or what Python says of attributes and indices.
INTERNAL = re.compile(r"\b_[a-z]\w*|has no attribute|tuple index|list index|Coo\b|Compressed|Blocks|ndarray|numpy\.")


def ends(expression: str, layout: str) -> str:
    """The message of the error that an expression ends with, with its type; "" for a result."""
    dense = torch.tensor([[1., 0, 2], [0, 0, 3]])
    x = dense.to_sparse() if layout == "coo" else dense.to_sparse_csr()
    try:
        eval(expression, {"torch": torch, "x": x, "other": x.clone(), "dense": torch.ones(2, 3),
                          "narrow": torch.ones(3, 2)})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def internal(message: str) -> bool:
    """Whether a message is of Python or NumPy about this package's own objects."""
    words = re.sub(r"aten::\w+|torch\.\w+|to numpy\.|'[a-z_0-9]+'|\w+_\(", "", message.split("\n")[0])
    return message.startswith(("AttributeError", "KeyError", "AssertionError")) or INTERNAL.search(words) is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_no_method_shows_an_internal_name(layout: str) -> None:
    calls = [f"x.{name}({given})" for name in METHODS for given in ARGUMENTS]
    found = {call: said for call in calls if (said := ends(call, layout)) and internal(said)}
    assert found == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_no_operator_shows_an_internal_name(layout: str) -> None:
    calls = [text for sign in OPERATORS for given in ("dense", "other", "2", "narrow", "None", "'a'")
             for text in (f"x {sign} {given}", f"{given} {sign} x")]
    found = {call: said for call in calls if (said := ends(call, layout)) and internal(said)}
    assert found == {}


def test_a_reflected_product_keeps_the_order_of_its_factors() -> None:
    x, y = torch.tensor([[0., 1], [0, 5]]).to_sparse(), torch.tensor([[1., 2], [3, 4]])
    assert x.__rmatmul__(y).tolist() == (y @ x.to_dense()).tolist() == [[0, 11], [0, 23]]
    assert x.__rmatmul__(2) is NotImplemented


def test_words_of_the_internals_are_found() -> None:
    assert internal("AttributeError: 'int' object has no attribute '_array'")
    assert internal("TypeError: _check() takes 1 positional argument but 2 were given")
    assert not internal("TypeError: add_(): argument 'other' (position 1) must be Tensor, not str")
