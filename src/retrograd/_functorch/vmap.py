"""torch._functorch.vmap: the types of `vmap`'s arguments, and `vmap` under its former place."""

from typing import TYPE_CHECKING

from ..func.batch import vmap
from ..names import missing

in_dims_t = int | tuple[object, ...]
out_dims_t = int | tuple[object, ...] | None
__all__ = ["in_dims_t", "out_dims_t", "vmap"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
