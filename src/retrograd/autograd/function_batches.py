"""A custom Function of a batch: its author's `vmap` computes the outputs of all samples from whole batches.

Without a `vmap`, `forward` itself runs on the batch. `setup_context`, `backward` and `jvp` always run as for one
sample, and the transform makes batches of what they compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..foundations.errors import noted
from ..foundations.modes import local
from ..tensors.state.base import TensorBase, plain
from ..tensors.transforms.batched import hidden, is_batched, shown
from ..tensors.transforms.batching import BatchLevel
from ..tensors.transforms.levels import in_effect, inner, others, outer


class VmapInfo(NamedTuple):
    """What a `vmap` is told: how many samples there are, and what random numbers are to them."""

    batch_size: int
    randomness: str


def forward(function: Any, args: Sequence[Any]) -> Any:
    """The output of a Function without context for these arguments, by its `vmap` if one of them is a batch.

    Raises RuntimeError inside of `vmap` if the Function also asks for a generated rule.
    """
    levels = local.thread.levels
    if function.generate_vmap_rule and any([isinstance(level, BatchLevel) for level in levels]):
        raise noted(
            RuntimeError(f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an "
                         "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden "
                         "vmap staticmethod to avoid ambiguity. For more details, please see "
                         "https://pytorch.org/docs/main/notes/extending.func.html"), "functions#two-rules-for-vmap")
    for level in reversed(levels):
        if isinstance(level, BatchLevel) and any([_varies(arg, level) for arg in args]):
            return _batched(function, level, args)
    return function.forward(*args)


def _varies(arg: Any, level: BatchLevel) -> bool:
    return isinstance(arg, TensorBase) and is_batched(arg._array, level)


def _batched(function: Any, level: BatchLevel, args: Sequence[Any]) -> Any:
    dims = tuple([0 if _varies(arg, level) else None for arg in args])
    with in_effect(others(level)):
        whole = [arg if dim is None else plain(outer(shown(arg._array, level))) for arg, dim in zip(args, dims)]
        found = function.vmap(VmapInfo(level.size, level.randomness), dims, *whole)
    output, out_dims = two_returned(found)
    if not isinstance(output, tuple):
        return _hidden(output, out_dims, level)
    if not isinstance(out_dims, tuple):
        out_dims = (out_dims,) * len(output)
    return tuple([_hidden(part, dim, level) for part, dim in zip(output, out_dims, strict=True)])


def two_returned(found: Any) -> tuple[Any, Any]:
    """The output and the dims that a rule for batches returned. Raises RuntimeError if it returned anything else."""
    if not isinstance(found, tuple) or len(found) != 2:
        got = f"{len(found)} returns" if isinstance(found, tuple) else f"a {type(found)}"
        raise noted(
            RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
                         f"structure compatible with the output. Got {got} instead"), "functions#returns-of-vmap")
    return found


def _hidden(output: TensorBase, dim: int | None, level: BatchLevel) -> Any:
    """An output as a batch; the output itself if all samples share it."""
    if dim is None:
        return output
    batch: Any = hidden(inner(output.movedim(dim, 0)._array), level)
    return plain(batch)
