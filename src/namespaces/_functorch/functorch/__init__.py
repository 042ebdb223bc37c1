"""functorch: the package of this name that is installed with PyTorch, for programs that say `import functorch`."""

from typing import TYPE_CHECKING

from ...foundations.names import inside, late
from ...version import __version__
from ..deprecated import (
    combine_state_for_ensemble, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, make_functional,
    make_functional_with_buffers, vjp, vmap)
from ..make_functional import FunctionalModule, FunctionalModuleWithBuffers

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "__version__", "combine_state_for_ensemble",
           "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional",
           "make_functional_with_buffers", "vjp", "vmap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "experimental"}, __name__), "functorch")
