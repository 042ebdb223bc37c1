"""Values of the samples in `op_db` and `module_db`, by which PyTorch tests its operators and modules, made here."""

from __future__ import annotations

import sys
import unittest
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np
import torch

import retrograd

# The tables import a package of PyTorch's developers, for tests of texts that are written into their own source.
_developers = ModuleType("expecttest")
_developers.TestCase = unittest.TestCase  # type: ignore[attr-defined]
sys.modules.setdefault("expecttest", _developers)

_MOST_DIMS = 64         # of NumPy's arrays


class Absent(Exception):
    """There is nothing here like a value of a sample."""


def ours(value: Any) -> Any:
    """A value of a sample as one of this package."""
    if type(value) in (tuple, list):
        return type(value)(map(ours, value))
    if isinstance(value, dict):
        return {key: ours(each) for key, each in value.items()}
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return getattr(retrograd, str(value).partition(".")[2])
    plain = type(value) is torch.Tensor and value.layout is torch.strided and value.device.type == "cpu"
    if plain and value.ndim <= _MOST_DIMS:
        wide = value.detach().float() if value.dtype is torch.bfloat16 else value.detach()
        array = wide.resolve_conj().resolve_neg().numpy()
        made = retrograd.from_numpy(array if 0 in array.strides else array.copy("K")).to(ours(value.dtype))
        return made.requires_grad_() if value.requires_grad else made
    if value is None or isinstance(value, int | float | complex | str | slice | np.ndarray | np.generic):
        return value
    raise Absent(type(value).__name__)


def function(name: str) -> Any:
    for place in (name, f"Tensor.{name}"):
        try:
            return attrgetter(place)(retrograd)
        except AttributeError:
            pass
    raise Absent(name)
