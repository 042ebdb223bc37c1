"""Numbers among the options and in the state of an optimizer, also as older releases of PyTorch have saved them.

A class of optimizers says in `_later` which options its first release lacked, with the values that mean what the first
release did. In `_were_floats` it says which parts of the state of a parameter are 0-d tensors today, and were floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import default_floating, float32, float64
from ..tensors.functions.creation.creation import tensor
from ..tensors.state.base import TensorBase


def later(**options: Any) -> Mapping[str, Any]:
    """The options that PyTorch added later to an optimizer: the options of all optimizers, and `options`."""
    return {"foreach": None, "maximize": False, "differentiable": False, **options}


def as_float(value: Any) -> float:
    """An option as a number. The option may be a tensor or an array of one element, or stand for a number."""
    if isinstance(value, TensorBase):
        return value._array.item()
    if type(value) is np.ndarray:
        return value.item()
    return value.__class__(value) if is_stand_in(value) else value


def is_stand_in(value: Any) -> bool:
    """Whether a value stands for a number while a program is traced. Then the class that it names is not its own."""
    return value.__class__ is not type(value)


def scalar(value: Any) -> Any:
    """A number as a 0-d tensor, in the dtype in which steps are counted: float64 if that is the default dtype."""
    return tensor(as_float(value), dtype=float64 if default_floating() is float64.dtype else float32)


def bring_up_to_date(groups: Sequence[dict[str, Any]], state: Mapping[Any, dict[str, Any]], later: Mapping[str, Any],
                     numbers: Sequence[str]) -> None:
    """Give groups the options that they lack, and make tensors of the numbers in the states of their parameters."""
    for group in groups:
        for option, value in later.items():
            group.setdefault(option, value)
        for of_parameter in [state.get(parameter) for parameter in group["params"]]:
            if of_parameter:
                for name in numbers:
                    if not isinstance(of_parameter[name], TensorBase):
                        of_parameter[name] = scalar(float(of_parameter[name]))
