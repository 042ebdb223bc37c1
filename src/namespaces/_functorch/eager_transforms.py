"""torch._functorch.eager_transforms: the transforms that differentiate, and `functionalize`."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from ..func.forward import hessian, jacfwd, jvp
from ..func.mutation import functionalize
from ..func.reverse import grad, grad_and_value, jacrev, linearize, vjp

__all__ = ["functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
