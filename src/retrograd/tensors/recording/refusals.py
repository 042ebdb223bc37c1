"""What a function that a transform transforms may not do, since nobody outside would see the gradients."""

from __future__ import annotations

from ...foundations.errors import noted
from ...foundations.modes import local

_INSIDE = ("You are attempting to call Tensor.{} inside of a function being transformed by a functorch transform. "
           "This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, "
           "hessian) or call {} outside of a function being transformed instead.")


def refuse_leaves_inside() -> None:
    """Raise RuntimeError inside of a transformed function, where derivatives by new leaves would count as constants."""
    if local.thread.functions:
        raise noted(RuntimeError(_INSIDE.format(
            "requires_grad_() (or perhaps using torch.autograd.functional.* APIs)", "requires_grad_()")),
            "backward#requires-grad-in-a-transform")


def refuse_retaining_inside() -> None:
    """Raise RuntimeError inside of a transformed function, whose tensors nobody outside can ask for `.grad`."""
    if local.thread.functions:
        raise noted(RuntimeError(_INSIDE.format("retain_grad()", "retain_grad()")),
                    "backward#retain-grad-in-a-transform")
