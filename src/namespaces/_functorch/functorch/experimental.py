"""functorch.experimental: what was new in functorch once."""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from ...func import hessian, jacfwd, jvp
from ...func.mutation import functionalize
from ...func.state import replace_all_batch_norm_modules_
from ..apis import chunk_vmap

__all__ = ["chunk_vmap", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__, "functorch.experimental")
