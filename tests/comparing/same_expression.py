"""One expression, evaluated with real PyTorch and with retrograd, and what can be seen of the two outcomes.

A tensor is its values, type, shape, strides, whether it requires grad, and the name of its grad_fn with those of the
nodes that follow it; an error is its type and message.
"""

from __future__ import annotations

import copy
import math
import pickle
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np

# Names for expressions on new tensors.
SETUP = """
t = torch.tensor
x = torch.ones(2, 3, requires_grad=True)
y = x * 2
i = t([1, 2])
h = torch.ones(4)
c = t([1j])
p = torch.zeros(2, 3, 4).permute(2, 0, 1)
"""


class Outcome:
    """What came of an expression: a description to compare, and the message where it was an error."""

    def __init__(self, module: ModuleType, setup: str, expression: str) -> None:
        names: dict[str, Any] = {"torch": module, "np": np, "copy": copy, "pickle": pickle, "math": math}
        self.message = ""
        module.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(setup, names)
            try:
                self.seen = described(module, eval(expression, names))
            except Exception as error:
                self.seen = ("error", type(error).__name__)
                self.message = said(error)


# Behind "Could not run 'aten::q_scale' with arguments from the 'CPU' backend." PyTorch lists the kernels of its build,
# each with the line of C++ that registers it.
_KERNELS = re.compile(r"(possible resolutions\.) '\S+' is only available for these backends: .*", re.DOTALL)
# The line of C++ that a warning comes from.
_PLACE = re.compile(r"\s*\(Triggered internally at [^()]*\)")
# Of a text without a word FileCheck shows a part that depends on the checks before.
_SEARCHED = re.compile(r"(Searched string:\n).*(?=From CHECK)", re.DOTALL)


def said(error: object) -> str:
    """The message, with `torch` for the name of the package, and without what is of PyTorch's build."""
    return _SEARCHED.sub(r"\1", _KERNELS.sub(r"\1", _PLACE.sub("", str(error)))).replace("retrograd", "torch")


def described(module: ModuleType, value: Any) -> Any:
    """`value` as built from plain objects that compare equal where the two libraries agree."""
    if isinstance(value, module.Tensor):
        node = value.grad_fn
        following = () if node is None else tuple(type(after).__name__ for after, _ in node.next_functions)
        array = value.detach().numpy()
        return ("tensor", str(value.dtype), tuple(value.shape), _strides(array), value.requires_grad, value.is_leaf,
                type(node).__name__, following, _values(array))
    if isinstance(value, np.ndarray | np.generic):
        return ("array", str(value.dtype), value.shape, _values(np.asarray(value)))
    if isinstance(value, list | tuple):
        return (type(value).__name__, *(described(module, item) for item in value))
    if isinstance(value, dict):
        return {key: described(module, item) for key, item in value.items()}
    if isinstance(value, bool | int | float | complex | str | bytes | type(None)):
        return (type(value).__name__, repr(value))
    return (type(value).__name__, _without_address(repr(value)))


def _values(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind == "O":
        return repr(array)
    return np.where(array != array, 0, array).tolist(), (array != array).tolist()


def _strides(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The strides that mean something: of dimensions longer than 1."""
    if not array.size:
        return ()
    return tuple(stride // array.itemsize for stride, size in zip(array.strides, array.shape) if size > 1)


def _without_address(text: str) -> str:
    return text.partition(" object at ")[0].rpartition(".")[2]


def check(torch: ModuleType, ours: ModuleType, setup: str, expression: str) -> None:
    """Fail where the two outcomes differ."""
    theirs, mine = Outcome(torch, setup, expression), Outcome(ours, setup, expression)
    assert mine.seen == theirs.seen, (mine.message, theirs.message)
    assert mine.message == theirs.message
