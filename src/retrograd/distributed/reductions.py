"""How the tensors of all processes become one: the names of the operations, and what MPI computes for them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from ..foundations.dtypes import (
    COMPLEX,
    FLOATING,
    Array,
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)
from ..foundations.errors import noted
from ..foundations.launching import mpi

__all__ = ["RedOpType", "ReduceOp", "supports_complex"]



class RedOpType(Enum):
    """How the tensors of all processes become one. Of one process, each gives the tensor itself."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class _Kinds(type):
    """The type of `ReduceOp`, by which the members count as its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, RedOpType)


class ReduceOp(metaclass=_Kinds):
    """The names of `RedOpType`, as programs say them: `ReduceOp.SUM`."""

    RedOpType: TypeAlias = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __new__(cls, op: RedOpType) -> RedOpType:  # type: ignore[misc]
        """The operation itself."""
        return op


def supports_complex(reduceOp: Any) -> bool:
    """Whether tensors of complex numbers have a reduction."""
    return reduceOp in (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)


BITWISE = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)
# The element types that collectives send. PyTorch's backend on the CPU has the same.
SENT = frozenset((float32, float64, float16, bfloat16, uint8, int8, int32, int64, bool_))


def check(operation: str, op: Any, kind: dtype) -> None:
    """Raise PyTorch's errors for an operation that a dtype does not have."""
    if not isinstance(op, RedOpType):
        raise noted(
            TypeError("(): incompatible function arguments. The following argument types are supported:\n    "
                      "1. (op: ReduceOp)"),
            given=f"{operation} with {op!r}", instead="an operation such as torch.distributed.ReduceOp.SUM")
    if kind.category == COMPLEX:
        if not supports_complex(op):
            raise ValueError(f"all_reduce does not support {op} on complex tensors")
    elif kind not in SENT:
        refuse(kind)
    if op is RedOpType.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with Gloo")
    if op in BITWISE and kind.category >= FLOATING:
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is RedOpType.AVG and kind.category < FLOATING:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {kind.legacy}")


def refuse(kind: dtype) -> None:
    """Raise RuntimeError for a dtype that collectives do not send."""
    if kind.category != COMPLEX and kind not in SENT:
        raise noted(
            RuntimeError("Invalid scalar type"), given=f"torch.{kind.name}", instead="convert the tensor first")


_NAMES = {RedOpType.SUM: "SUM", RedOpType.AVG: "SUM", RedOpType.PRODUCT: "PROD", RedOpType.MIN: "MIN",
          RedOpType.MAX: "MAX", RedOpType.BAND: "BAND", RedOpType.BOR: "BOR", RedOpType.BXOR: "BXOR"}
# A bool is 0 or 1, so sums and maxima say whether there is a True, and products and minima whether all are.
_OF_BOOLS = {"SUM": "LOR", "MAX": "LOR", "PROD": "LAND", "MIN": "LAND"}
_PAIRS: dict[str, Callable[..., Array]] = {
    "SUM": np.add, "PROD": np.multiply, "MIN": np.minimum, "MAX": np.maximum}


def mpi_op(op: RedOpType, kind: np.dtype[Any]) -> Any:
    """MPI's operation for arrays of this dtype.

    Of halves it computes in float32 and rounds after each pair. Maxima and minima of floats are NumPy's: with MPI's, it
    would depend on the order of the processes whether a nan among the numbers is the result, as it should be.
    """
    name = _NAMES[op]
    if kind.kind == "b":
        name = _OF_BOOLS.get(name, name)
    ordered = kind.kind == "f" and name in ("MAX", "MIN")
    return _by_pairs(name, kind) if kind.itemsize == 2 or ordered else getattr(mpi(), name)


@cache
def _by_pairs(name: str, kind: np.dtype[Any]) -> Any:
    """An operation of MPI that NumPy computes. MPI knows numbers of 16 bits as integers of that size."""
    pair = _PAIRS[name]

    def reduce(given: Any, into: Any, _: Any) -> None:
        found = np.frombuffer(into, kind)
        if kind.itemsize == 2:
            found[:] = pair(np.frombuffer(given, kind).astype(np.float32), found.astype(np.float32)).astype(kind)
        else:
            pair(np.frombuffer(given, kind), found, out=found)

    return mpi().Op.Create(reduce, commute=True)
