"""torch.distributed.tensor.placement_types: how a tensor lies on the processes along one dim of a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...foundations.names import missing

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Placement:
    """How a tensor lies on the processes along one dim of a mesh."""

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
class Shard(Placement):
    """Each process has a part of the tensor, along one dim of the tensor.

    >>> import retrograd as torch
    >>> from retrograd.distributed.tensor import Shard
    >>> Shard(1), str(Shard(1)), Shard(1).is_shard(0)
    (Shard(dim=1), 'S(1)', False)
    """

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole tensor."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """The tensor is the sum of what the processes have, or another reduction."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"
