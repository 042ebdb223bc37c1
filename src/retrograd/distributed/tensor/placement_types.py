"""torch.distributed.tensor.placement_types: how a tensor lies on the processes along one dim of a mesh."""

from __future__ import annotations

from dataclasses import astuple, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.errors import noted
from ...foundations.names import missing
from ...tensors.state.base import plain
from .. import collectives
from ..reductions import RedOpType, ReduceOp

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


# The reductions of parts, by their names.
_REDUCTIONS: dict[str, RedOpType] = {
    "sum": ReduceOp.SUM, "avg": ReduceOp.AVG, "max": ReduceOp.MAX, "min": ReduceOp.MIN, "product": ReduceOp.PRODUCT,
    "band": ReduceOp.BAND, "bor": ReduceOp.BOR, "bxor": ReduceOp.BXOR}


class Placement:
    """How a tensor lies on the processes along one dim of a mesh."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), astuple(self) if is_dataclass(self) else ()

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part of the tensor, along this dim if one is named."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the tensor is the sum, or another reduction, of what the processes have."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Cut(Placement):
    """Each process has a part of the tensor, along one dim of the tensor."""

    dim: int


@dataclass(frozen=True)
class Shard(Cut):
    """Each process has a part of the tensor, along one dim of the tensor.

    >>> import retrograd as torch
    >>> from retrograd.distributed.tensor import Shard
    >>> Shard(1), str(Shard(1)), Shard(1).is_shard(0)
    (Shard(dim=1), 'S(1)', False)
    """

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Cut):
    """Each process has a part of a part: along this dim of the mesh, the tensor is cut after all cuts by `Shard`.

    `split_factor` is the number of parts that were cut before. `fully_shard` cuts split layers so.
    """

    split_factor: int = 1

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole tensor."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """The tensor is the sum of what the processes have, or another reduction."""

    reduce_op: str = "sum"

    @property
    def reduction(self) -> RedOpType:
        """The reduction of the parts. Raises RuntimeError for a name that is none."""
        if self.reduce_op not in _REDUCTIONS:
            raise noted(
                RuntimeError(f"Unrecognized reduce_op: {self.reduce_op}"), instead=f"one of {', '.join(_REDUCTIONS)}")
        return _REDUCTIONS[self.reduce_op]

    def before(self, part: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What of a part of this process goes into the reduction."""
        return part

    def after(self, total: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The result, of what the reduction gave."""
        return total

    def reduced(self, part: np.ndarray[Any, Any], group: Any) -> np.ndarray[Any, Any]:
        """The reduction of the parts of all processes of a group."""
        total = np.array(self.before(part), order="C")
        collectives.all_reduce(plain(total), self.reduction, group)
        return self.after(total)

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


@dataclass(frozen=True)
class _NormPartial(Partial):
    """The tensor is a norm: the root of the sum of the powers of what the processes have."""

    norm: float = 2.0

    def before(self, part: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The powers of the norms of the parts."""
        powers: np.ndarray[Any, Any] = part ** np.asarray(self.norm, part.dtype)
        return powers

    def after(self, total: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The root of the sum of the powers."""
        root: np.ndarray[Any, Any] = np.asarray(total ** np.asarray(1 / self.norm, total.dtype))
        return root

    def __repr__(self) -> str:
        return f"_NormPartial({self.norm:g})"

    def __str__(self) -> str:
        return f"_NormP({self.norm:g})"
