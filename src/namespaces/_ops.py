"""torch.ops: PyTorch's operators by the names of its core, such as `torch.ops.aten.add.Tensor`.

A call runs the function, or the method, that programs know under the name. No overload is chosen by its name: the
arguments decide. There is no list of the core's operators, so every name in `aten` is an operator, and a call of an
operator that retrograd has not raises NotImplementedError. `torch.library` adds namespaces with the operators that
programs define.
"""

from typing import TYPE_CHECKING

from .foundations.names import missing, refused_class
from .ops.overloads import (
    NAMESPACES as NAMESPACES,
    DefinedPacket as DefinedPacket,
    OpOverload,
    OpOverloadPacket,
    aten,
    namespace,
    prim,
)

__all__ = ["HigherOrderOperator", "OpOverload", "OpOverloadPacket", "aten", "namespace", "prim"]

HigherOrderOperator = refused_class("torch._ops.HigherOrderOperator")
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
