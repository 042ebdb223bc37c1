"""Names that PyTorch's files of layers and of functions import for themselves, and that programs import from there.

Each name is followed by the place where it is found, see `names.late`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..foundations.names import late

__all__ = ["BORROWED", "borrowing"]

_SIZES = ("_ratio_2_t", "_ratio_3_t", "_ratio_any_t", "_size_1_t", "_size_2_opt_t", "_size_2_t", "_size_3_opt_t",
          "_size_3_t", "_size_4_t", "_size_6_t", "_size_any_opt_t", "_size_any_t")
_TOOLS = ("_list_with_default", "_ntuple", "_pair", "_quadruple", "_reverse_repeat_tuple", "_single", "_triple")

BORROWED: dict[str, str] = {
    "F": "nn.functional", "Module": "nn.modules.module:Module", "Parameter": "nn.parameter:Parameter",
    "Tensor": "tensors.tensor:Tensor", "_Reduction": "nn._reduction",
    "_addindent": "nn.modules.container:_addindent", "init": "nn.init",
    "NonDynamicallyQuantizableLinear": "nn.modules.linear:NonDynamicallyQuantizableLinear",
    "xavier_normal_": "nn.init:xavier_normal_", "xavier_uniform_": "nn.init:xavier_uniform_",
    **{name: f"nn.common_types:{name}" for name in _SIZES}, **{name: f"nn.modules.utils:{name}" for name in _TOOLS}}


def borrowing(module_name: str, names: Iterable[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a file of layers, which has ``names``."""
    return late(module_name, names, BORROWED)
