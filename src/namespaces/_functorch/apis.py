"""torch._functorch.apis: `vmap`, `grad` and `grad_and_value`, and `chunk_vmap` for a number of chunks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..func.reverse import grad, grad_and_value
from .vmap import batch_size, vmap

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def chunk_vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error",
               chunks: int = 2) -> Callable[..., Any]:
    """The function that calls `func` on each sample of a batch, in at most `chunks` calls of equally many samples.

    The other arguments are those of `vmap`.

    >>> import retrograd as torch
    >>> from retrograd._functorch.apis import chunk_vmap
    >>> chunk_vmap(torch.dot, chunks=2)(torch.ones(3, 2), torch.ones(3, 2))
    tensor([2., 2., 2.])

    Raises ValueError if `chunks` is less than 1.
    """
    if chunks < 1:
        raise ValueError(f"chunk_vmap: chunks should be positive. (got {chunks})")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        size = batch_size(func, in_dims, args)
        return vmap(func, in_dims, out_dims, randomness, chunk_size=max(1, -(-size // chunks)))(*args, **kwargs)

    return wrapper
