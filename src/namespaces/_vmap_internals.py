"""torch._vmap_internals: the first `vmap` of PyTorch, of functions that return a tensor or a tuple of tensors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._functorch.vmap import vmap as _vmap_of_trees
from .foundations.names import missing
from .tensors.tensor import Tensor

in_dims_t = int | tuple[object, ...]
out_dims_t = int | tuple[int, ...]
__all__ = ["in_dims_t", "out_dims_t", "vmap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def vmap(func: Callable[..., Any], in_dims: in_dims_t = 0, out_dims: out_dims_t = 0) -> Callable[..., Any]:
    """The function that calls `func` on each sample of a batch, with a warning that `torch.vmap` has its place now."""
    warnings.warn("Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.", FutureWarning, stacklevel=2)
    return _vmap(func, in_dims, out_dims)


def _vmap(func: Callable[..., Any], in_dims: in_dims_t = 0, out_dims: out_dims_t = 0,
          allow_none_pass_through: bool = False) -> Callable[..., Any]:
    """The function that calls `func` on each sample of a batch. With `allow_none_pass_through`, outputs may be None."""
    name = getattr(func, "__name__", repr(func))

    def of_sample(*args: Any) -> Any:
        found = func(*args)
        for output in found if isinstance(found, tuple) else (found,):
            if not isinstance(output, Tensor) and not (allow_none_pass_through and output is None):
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)} as "
                                 "the return.")
        return found

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        present: list[bool] = []

        def of_present(*values: Any) -> Any:
            found = of_sample(*values)
            if not isinstance(found, tuple):
                return found
            present[:] = [output is not None for output in found]
            return tuple([output for output in found if output is not None])

        found = _vmap_of_trees(of_present, in_dims, out_dims, "error")(*args)
        if all(present):
            return found
        outputs = iter(found)
        return tuple([next(outputs) if there else None for there in present])

    return wrapped
