"""The errors of `autograd.functional`, in PyTorch's words: unfit outputs, and independence in strict mode.

In strict mode, a gradient of zeros that only stands for "does not depend on the input" is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..foundations.errors import noted
from ..foundations.modes import local
from ..tensors.functions.creation import creation
from ..tensors.state.base import edge_of, plain
from ..tensors.state.dispatch import DISPATCH, handlers_see
from ..tensors.tensor import Tensor

_FORBIDDEN = "This is not allowed in strict mode"


class Stage(NamedTuple):
    """A pass: its message for an absent gradient, and the name of the derivative that it computes."""

    absent: str
    object: str


BACK = Stage("The output of the user-provided function is independent of input {}. " + _FORBIDDEN + ".", "jacobian")
BACK_TRICK = Stage("The gradient with respect to the input is independent of entry {} in the grad_outputs when using "
                   "the double backward trick to compute forward mode gradients. " + _FORBIDDEN + ".", "jacobian")
DOUBLE_BACK = Stage("The jacobian of the user-provided function is independent of input {}. " + _FORBIDDEN + ".",
                    "hessian")
DOUBLE_BACK_TRICK = Stage(
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. " + _FORBIDDEN +
    " as it prevents from using the double backward trick to replace forward mode AD.", "hessian")


def filled(gradients: Sequence[Any], like: Sequence[Any], strict: bool, create_graph: bool,
           stage: Stage) -> tuple[Any, ...]:
    """The gradients, with zeros for absent ones. In strict mode, absent and constant gradients raise RuntimeError."""
    if strict:
        for i, g in enumerate(gradients):
            if g is None:
                raise noted(RuntimeError(f"{stage.absent.format(i)}"), "functional#output-independent-of-input")
            if create_graph and edge_of(g) is None:
                raise constant(stage.object, i)
    return tuple([zeros_like(t) if g is None else g for g, t in zip(gradients, like)])


def calls_are_seen(*tensors: Any) -> bool:
    """Whether handlers below autograd, or classes that a program derives from Tensor, see the calls with tensors."""
    return handlers_see(*tensors) or (not local.thread.levels and any([
        type(tensor) is not DISPATCH.tensor for tensor in tensors]))


def zeros_like(tensor: Tensor) -> Any:
    """A constant of zeros."""
    if calls_are_seen(tensor):
        return creation.zeros_like(tensor)
    return plain(np.zeros(tensor._array.shape, tensor._array.dtype))


def constant(what: str, i: int) -> RuntimeError:
    """The error for a derivative that is to be differentiated again but does not depend on the inputs."""
    return noted(
        RuntimeError(f"The {what} of the user-provided function is independent of input {i}. {_FORBIDDEN} when "
                     "create_graph=True."), "functional#constant-jacobian")


def independent(output: int, i: int) -> RuntimeError:
    """The error for an output that does not depend on an input."""
    return noted(
        RuntimeError(f"Output {output} of the user-provided function is independent of input {i}. {_FORBIDDEN}."),
        "functional#output-independent-of-input")


def require_outputs(outputs: Sequence[Any]) -> None:
    """Raise RuntimeError if an output requires no grad."""
    for i, out in enumerate(outputs):
        if edge_of(out) is None:
            raise noted(
                RuntimeError(f"Output {i} of the user-provided function does not require gradients. The outputs "
                             "must be computed in a differentiable manner from the input when running in strict "
                             "mode."), "functional#output-requires-no-grad")


def require_dependence(gradients: Sequence[Any]) -> None:
    """Raise RuntimeError if a gradient is absent, or does not depend on its cotangent."""
    _require(gradients, "The gradient with respect to input {} is independent of the inputs of the user-provided "
                        f"function. {_FORBIDDEN}.")


def require_second_order(gradients: Sequence[Any]) -> None:
    """Raise RuntimeError if a gradient cannot be differentiated by the inputs, because the function is linear."""
    _require(gradients, "While computing the hessian, found that the jacobian of the user-provided function with "
                        f"respect to input {{}} is independent of the input. {_FORBIDDEN}. You should ensure that your "
                        "function is twice differentiable and that the jacobian depends on the inputs (this would be "
                        "violated by a linear function for example).")


def _require(gradients: Sequence[Any], constant: str) -> None:
    """Raise RuntimeError for an absent gradient, and with the message `constant` for a gradient without history."""
    for i, g in enumerate(gradients):
        if g is None:
            raise noted(RuntimeError(f"{BACK.absent.format(i)}"), "functional#output-independent-of-input")
        if edge_of(g) is None:
            raise noted(RuntimeError(f"{constant.format(i)}"), "functional#constant-jacobian")


def require_real(outputs: Sequence[Any]) -> None:
    """Raise RuntimeError for complex outputs: their rows are not gradients of real numbers."""
    for out in outputs:
        if out._array.dtype.kind == "c" and out._array.size and edge_of(out) is not None:
            raise noted(
                RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}"),
                "functional#real-scalar-output-of-function",
                because="with vectorize=True the derivatives are taken along the real axis")


def require_single(several: bool, outputs: Sequence[Any], name: str) -> None:
    """Raise RuntimeError if the function of a Hessian does not return a single number. `name` is the caller."""
    if several:
        raise noted(
            RuntimeError(f"The function given to {name} should return a single Tensor"), "functional#single-tensor")
    if outputs[0]._array.size != 1:
        raise noted(
            RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element"),
            "functional#single-element", given=f"shape {list(outputs[0].shape)}")
