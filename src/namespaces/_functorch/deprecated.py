"""torch._functorch.deprecated: the functions of the package functorch, which warn that `torch.func` has them now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import func
from ..foundations.names import missing
from . import make_functional as modules

__all__ = ["combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
           "jvp", "make_functional", "make_functional_with_buffers", "vjp", "vmap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _deprecated(function: Callable[..., Any], instead: str = "") -> Callable[..., Any]:
    """The function, which warns on every call that functorch is no package of its own any more."""
    name = function.__name__
    instead = instead or f"torch.func.{name}"
    message = (f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is "
               "deprecated as of PyTorch 2.0 and will be deleted in a future version of PyTorch >= 2.3. Please use "
               f"`{instead}` instead; see the PyTorch 2.0 release notes and/or the `torch.func` migration guide for "
               "more details https://pytorch.org/docs/main/func.migrating.html")

    @functools.wraps(function)
    def warning(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(message, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return warning


vmap = _deprecated(func.vmap, "torch.vmap")
functionalize, hessian = _deprecated(func.functionalize), _deprecated(func.hessian)
grad, grad_and_value, vjp, jvp = [_deprecated(f) for f in (func.grad, func.grad_and_value, func.vjp, func.jvp)]
jacrev, jacfwd = _deprecated(func.jacrev), _deprecated(func.jacfwd)
make_functional = _deprecated(modules.make_functional, "torch.func.functional_call")
make_functional_with_buffers = _deprecated(modules.make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = _deprecated(modules.combine_state_for_ensemble, "torch.func.stack_module_state")
