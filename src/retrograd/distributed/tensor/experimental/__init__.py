"""torch.distributed.tensor.experimental: functions of parts, and tensors that all processes have among DTensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

from ....foundations.names import missing
from ...device_mesh import DeviceMesh
from ..dtensor import DTensor, Implicit
from ..placement_types import Placement

__all__ = ["implicit_replication", "local_map"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


@contextmanager
def implicit_replication() -> Iterator[None]:
    """A context in which tensors that all processes have may stand beside DTensors in a call."""
    before, Implicit.allowed = Implicit.allowed, True
    try:
        yield
    finally:
        Implicit.allowed = before


def local_map(func: Callable[..., Any], out_placements: Any, in_placements: Sequence[Any] | None = None,
              in_grad_placements: Sequence[Any] | None = None, device_mesh: DeviceMesh | None = None, *,
              redistribute_inputs: bool = False) -> Callable[..., Any]:
    """The function that calls `func` with the parts of DTensors, and makes DTensors of its results.

    `out_placements` and `in_placements` have placements for each result and argument, or None for what is no DTensor.
    Raises ValueError for an argument in other placements, unless `redistribute_inputs` is true.
    """
    @wraps(func)
    def compute(*args: Any, **options: Any) -> Any:
        mesh, parts = device_mesh, []
        for i, value in enumerate(args):
            if isinstance(value, DTensor):
                mesh = mesh or value.device_mesh
                wanted = in_placements and in_placements[i]
                if wanted is not None and tuple(wanted) != value.placements:
                    if not redistribute_inputs:
                        raise ValueError(f"arg {value} in local_map has a mismatched placements: arg placements is "
                                         f"{value.placements} but the input placements is {tuple(wanted)}! If "
                                         "redistribute_inputs is wanted, set redistribute_inputs=True to local_map.")
                    value = value.redistribute(placements=wanted)
                value = value.to_local(grad_placements=in_grad_placements and in_grad_placements[i])
            parts.append(value)
        found = func(*parts, **options)
        if mesh is None:
            return found
        if isinstance(found, tuple):
            return tuple([_made(each, mesh, lie) for each, lie in zip(found, out_placements)])
        single = not out_placements or isinstance(out_placements[0], Placement)
        return _made(found, mesh, out_placements if single else out_placements[0])

    return compute


def _made(value: Any, mesh: DeviceMesh, placements: Sequence[Placement] | None) -> Any:
    return value if placements is None else DTensor.from_local(value, mesh, placements)
