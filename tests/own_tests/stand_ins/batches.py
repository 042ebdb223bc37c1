"""functorch's helpers of tests: `vmap` against a loop over samples."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..serving import Placeholder


def _stacked(outputs: list[Any]) -> Any:
    if isinstance(outputs[0], tuple | list):
        return tuple([_stacked(list(column)) for column in zip(*outputs)])
    return torch.stack(outputs)


def compute_quantities_for_vmap_test(op: Callable[..., Any], args: Any, kwargs: Any, in_dims: Any, out_dim: int = 0,
                                     batch_size: int = 2, compute_loop_out: bool = True,
                                     clone_inputs: bool = False) -> Iterator[tuple[Any, Any]]:
    """What a loop and what `vmap` computes."""

    def inputs() -> list[Any]:
        return [a.clone() if clone_inputs and isinstance(a, torch.Tensor) else a for a in args]

    looped = None
    if compute_loop_out:
        given = inputs()
        looped = _stacked([op(*[a if d is None else a.select(d, i) for a, d in zip(given, in_dims)], **kwargs)
                           for i in range(batch_size)])
    yield looped, torch.func.vmap(op, in_dims, out_dim)(*inputs(), **kwargs)


def get_fallback_and_vmap_exhaustive(op: Callable[..., Any], args: Any, kwargs: Any,
                                     is_batch_norm_and_training: bool = False,
                                     compute_loop_out: bool = True) -> Iterator[tuple[Any, Any]]:
    """The same for each way to batch the tensors."""
    for batched, in_dims, given in generate_vmap_inputs(args, kwargs):
        yield from compute_quantities_for_vmap_test(op, batched, given, in_dims, compute_loop_out=compute_loop_out)


def generate_vmap_inputs(args: Any, kwargs: Any, is_batch_norm_and_training: bool = False,
                         batch_size: int = 2) -> Iterator[tuple[Any, Any, Any]]:
    """Arguments with the tensors batched in front, at the end, or not at all; and the dims of the batch."""
    choices = [(None, 0, -1) if isinstance(a, torch.Tensor) else (None,) for a in args]
    for in_dims in itertools.product(*choices):
        if any(d is not None for d in in_dims):
            batched = [a if d is None else torch.stack([a] * batch_size, d) for a, d in zip(args, in_dims)]
            yield tuple(batched), in_dims, kwargs


def check_vmap_fallback(test_case: Any, thunk: Callable[[], Any], opinfo: Any, dry_run: bool = False) -> None:
    """Call the function. Nobody is told of a loop over samples here."""
    thunk()


def expectedFailureIf(condition: bool) -> Callable[[Any], Any]:
    """The mark of tests that fail, under a condition."""
    return unittest.expectedFailure if condition else lambda function: function


def _mark(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda function: function


skipOps = opsToleranceOverride = xfail = skip = tol1 = decorate = _mark


class DisableVmapFallback:
    """The context of code that must not loop over samples. It changes nothing."""

    def __enter__(self) -> DisableVmapFallback:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing was changed."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Placeholder(f"the helper {name} of functorch")
