"""torch.func: transforms of functions. Each takes a function of tensors, and returns another function.

`reverse` has the gradients, `forward` the tangents, `state` calls modules as functions, and `rearranging` is about dims
alone. `_functorch.vmap` has the batches.
"""

from typing import TYPE_CHECKING

from .._functorch.vmap import vmap
from ..foundations.names import missing
from .forward import hessian, jacfwd, jvp
from .mutation import debug_unwrap, functionalize
from .rearranging import rearrange
from .reverse import grad, grad_and_value, jacrev, linearize, vjp
from .state import functional_call, replace_all_batch_norm_modules_, stack_module_state

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
           "jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
