"""torch.types: names for annotations, such as `Number` and `Device`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, TypeAlias

from .foundations.devices import DeviceLike, device
from .foundations.dtypes import dtype
from .foundations.names import missing
from .symbols import SymBool, SymFloat, SymInt
from .tensors.arguments.options import layout
from .tensors.arguments.size import Size
from .tensors.face.storage import UntypedStorage as Storage
from .tensors.tensor import Tensor

__all__ = ["BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "PySymType", "Size",
           "Storage", "SymBool", "SymFloat", "SymInt", "Tensor", "py_sym_types"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_int, _float, _bool, _complex = int, float, bool, complex
_dtype, _device, _layout = dtype, device, layout
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]

Number: TypeAlias = int | float | bool
Device: TypeAlias = DeviceLike | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
IntLikeType: TypeAlias = int | SymInt
FloatLikeType: TypeAlias = float | SymFloat
BoolLikeType: TypeAlias = bool | SymBool
py_sym_types = (SymInt, SymFloat, SymBool)
PySymType: TypeAlias = SymInt | SymFloat | SymBool
