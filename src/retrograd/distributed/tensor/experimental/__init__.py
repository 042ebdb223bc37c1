"""torch.distributed.tensor.experimental: functions of parts, and tensors that all processes have among DTensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

from ....foundations.names import missing
from ....tensors.tensor import Tensor
from ....utils._pytree import tree_flatten, tree_unflatten
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

    `out_placements` and `in_placements` have placements for each result and argument, or None for what is no tensor.
    Raises ValueError for an argument in other placements, unless `redistribute_inputs` is true, and AssertionError if
    there are not as many placements as results or arguments.
    """
    @wraps(func)
    def compute(*args: Any, **options: Any) -> Any:
        flat, spec = tree_flatten(args)
        if in_placements is not None and len(in_placements) != len(flat):
            raise AssertionError(f"in_placements length {len(in_placements)} does not match the number of input args "
                                 f"{len(flat)}!")
        mesh, parts = device_mesh, []
        for i, value in enumerate(flat):
            if isinstance(value, DTensor):
                mesh = mesh or value.device_mesh
                parts.append(_part(value, in_placements, in_grad_placements, i, redistribute_inputs))
            else:
                parts.append(value)
        found = func(*tree_unflatten(parts, spec), **options)
        if not any([isinstance(value, DTensor) for value in flat]):
            return found
        results, spec = tree_flatten(found)
        places = out_placements if isinstance(out_placements, tuple) else (out_placements,)
        if len(results) != len(places):
            raise AssertionError("local_map requires one PlacementType be provided for each output value, received "
                                 f"{len(places)} out_placements but {len(results)} is expected!")
        return tree_unflatten([_made(value, mesh, lie) for value, lie in zip(results, places)], spec)

    return compute


def _part(value: DTensor, placements: Sequence[Any] | None, of_gradients: Sequence[Any] | None, i: int,
          moves: bool) -> Any:
    """The part of an argument in its placements."""
    if placements is not None:
        wanted = placements[i]
        if wanted is None:
            raise AssertionError(f"DTensor input {value} expects placements but received {wanted}!")
        if tuple(wanted) != value.placements:
            if not moves:
                raise ValueError(f"arg {value} in local_map has a mismatched placements: arg placements is "
                                 f"{value.placements} but the input placements is {tuple(wanted)}! If "
                                 "redistribute_inputs is wanted, set redistribute_inputs=True to local_map.")
            value = value.redistribute(placements=wanted)
    return value.to_local(grad_placements=of_gradients and of_gradients[i])


def _made(value: Any, mesh: DeviceMesh | None, placements: Sequence[Placement] | None) -> Any:
    """A result as a DTensor, if it is a tensor."""
    if isinstance(value, DTensor):
        raise AssertionError(f"torch.Tensor output expected but received {type(value)}: {value}")
    if isinstance(value, Tensor):
        return DTensor.from_local(value, mesh, placements)
    if placements is not None:
        raise AssertionError(f"Non-tensor output {value} expects None placements but received {placements}!")
    return value
