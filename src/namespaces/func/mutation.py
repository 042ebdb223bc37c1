"""Functions without mutation, and tensors without levels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..tensors.state.base import plain
from ..tensors.tensor import Tensor
from ..tensors.transforms.batched import parts, shown
from ..tensors.transforms.levels import outer


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself. Writes in place need no removal here, because every transform follows them.

    `remove` is 'mutations' or 'mutations_and_views'. Raises RuntimeError for another value.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with their out-of-place equivalents.\n     remove='mutations_and_views': In addition to the above, all "
            "aliasing operators {view} will be replaced with their non-aliasing counterparts, {view}_copy.\n")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor behind a tensor of a transform, with the hidden dims of batches first. It is for looking at.

    With `recurse=False`, only the innermost batch shows its dim.
    """
    array, levels = parts(tensor._array)
    if not levels:
        return tensor
    return plain(outer(array if recurse else shown(tensor._array, levels[-1])))
