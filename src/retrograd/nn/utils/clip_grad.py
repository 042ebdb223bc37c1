"""torch.nn.utils.clip_grad: limits for the gradients of a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import GeneratorType
from typing import Any

import numpy as np

from ...autograd.grad_mode import no_grad
from ...foundations.dtypes import F32, F64, Array, default_floating, legacy
from ...foundations.errors import noted, warn
from ...foundations.modes import local
from ...graph.versions import writing, written
from ...ops.basic import beyond
from ...ops.framework import operator
from ...tensors.functions.elementwise.comparison import clamp
from ...tensors.functions.linalg.norms import vector_norm
from ...tensors.functions.shapes.joining import stack
from ...tensors.state.base import TensorBase, plain
from ...tensors.state.writable import unlock
from ...tensors.tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _gradients(parameters: Any, may_be_empty: bool = True) -> list[Any]:
    """The gradients that exist. An empty generator makes a warning, unless it may be empty."""
    listed: list[Any] = [parameters] if isinstance(parameters, TensorBase) else list(parameters)
    if not listed and not may_be_empty and type(parameters) is GeneratorType:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return [parameter.grad for parameter in listed if parameter.grad is not None]


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """The norm of all elements of the tensors, as a tensor without dimensions.

    Raises RuntimeError if the norm is infinite or nan and `error_if_nonfinite` is true, for ints, and for the infinity
    norm of an empty tensor; NotImplementedError for a sparse tensor.
    """
    order = float(norm_type)
    listed = [tensors] if isinstance(tensors, TensorBase) else list(tensors)
    for other in [t for t in listed if not isinstance(t, TensorBase)]:
        raise AttributeError(f"'{type(other).__name__}' object has no attribute 'device'")
    if any([type(t._array) is not np.ndarray for t in listed]) and local.thread.transform is None:
        return _norm_of_others(listed, order, error_if_nonfinite)
    arrays = [t._array for t in listed]
    result: Tensor = plain(beyond(partial(_total_norm, order, error_if_nonfinite), *arrays))
    return result


def _norm_of_others(tensors: list[Any], order: float, error_if_nonfinite: bool) -> Tensor:
    """The norm of tensors over other kinds of arrays, such as DTensors. Raises for sparse tensors, which have none."""
    total: Tensor = vector_norm(stack([vector_norm(t, order) for t in tensors]), order)
    _check_finite(total.item() if error_if_nonfinite else 0.0, order)
    return total


def _check_finite(total: Any, order: float) -> None:
    if not math.isfinite(total):
        raise RuntimeError(f"The total norm of order {order} for gradients from `parameters` is non-finite, so it "
                           "cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
                           "anyway, set `error_if_nonfinite=False`")


def _total_norm(order: float, error_if_nonfinite: bool, *arrays: Any) -> Any:
    norms = [_norm(array.reshape(-1), order) for array in arrays]
    together = np.array(norms)
    if together.dtype.kind == "O":                       # NumPy has no common type of bfloat16 and float16
        together = together.astype(F32)
    total = _norm(together, order) if norms else default_floating().type(0)
    _check_finite(total if error_if_nonfinite else 0.0, order)
    return total


def _norm(values: Array, order: float) -> Any:
    """The norm of a vector, in the vector's real dtype."""
    if order == 2.0 and values.size != 1 and (values.dtype is F32 or values.dtype is F64):
        return np.sqrt(values.dot(values))               # as np.linalg.norm computes it, with fewer calls
    if values.dtype.kind in "iub":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{legacy(values)}")
    if not values.size:
        if math.isinf(order):
            raise RuntimeError(f"{'_foreach_norm' if order > 0 else 'linalg.vector_norm'} cannot compute the "
                               f"{'infinity' if order > 0 else '-inf'} norm on an empty tensor because the operation "
                               "does not have an identity")
        return values.real.dtype.type(0)
    if values.size == 1 and order:
        return np.abs(values)[0]                         # the square of the number may be 0 or infinite
    wide = values.astype(np.float32) if values.dtype == np.float16 else values
    return np.linalg.norm(wide, order).astype(values.real.dtype)


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                    foreach: bool | None = None) -> Tensor:
    """Scale the gradients in place so that their common norm is at most `max_norm`. Returns the norm before.

    >>> import retrograd as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> (w * torch.tensor([3., 4.])).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_([w], 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])

    Raises RuntimeError if the norm is infinite or nan and `error_if_nonfinite` is true.
    """
    grads = _gradients(parameters, may_be_empty=False)
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    _write_over(grads, _scale_into, total._array, float(max_norm))
    return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """`clip_grad_norm_` with a known norm: scale the gradients in place by `max_norm / total_norm` if that is below 1.

    Raises TypeError if the norm is no tensor.
    """
    if not isinstance(total_norm, TensorBase):
        clamp(max_norm / (total_norm + 1e-6), max=1.0)      # PyTorch's error, which is one of this function
    _write_over(_gradients(parameters), _scale_into, total_norm._array, float(max_norm))


def _write_over(grads: list[Any], into: Callable[..., None], *args: Any) -> None:
    """Have `into` write over each of the gradients."""
    for grad in grads:
        if type(grad._array) is not np.ndarray and local.thread.transform is None:
            _write_over_other(grad, into, *args)
            continue
        array = grad._array
        if type(array) is np.ndarray and not array.flags.writeable:
            array = unlock(array)
        writing(array)
        _clipped.write(into, array, *args)
        written(array, None)


@no_grad()
def _write_over_other(grad: Tensor, into: Callable[..., None], *args: Any) -> None:
    """The same for a gradient over another kind of array than NumPy's, such as a DTensor."""
    if into is _scale_into:
        total, max_norm = plain(args[0]), args[1]
        grad.mul_((max_norm / (total + 1e-6)).clamp(max=1.0))
    else:
        grad.clamp_(-args[0], args[0])


def _scale_into(g: Array, total: Array, max_norm: float) -> None:
    """Scale a gradient in place, so that the norm that was `total` is at most `max_norm`."""
    np.multiply(g, np.minimum(max_norm / (total + 1e-6), 1.0).astype(g.dtype), out=g)


def _clip_into(g: Array, limit: float) -> None:
    """Move every element of a gradient into [-limit, limit], in place."""
    np.clip(g, -limit, limit, out=g)


_clipped = operator("clip_grad_", _scale_into, tensors=2)


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """The old name of `clip_grad_norm_`. A call warns that the name is deprecated."""
    warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
         FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of the gradients, in place, to [-clip_value, clip_value].

    Raises NotImplementedError for complex gradients, and RuntimeError if there is no gradient.
    """
    grads = _gradients(parameters)
    if not grads:
        raise noted(RuntimeError("Expected !nested_tensorlist[0].empty() to be true, but got false.  (Could this error "
                                 "message be improved?  If so, please report an enhancement request to PyTorch.)"),
                    because="no parameter has a gradient")
    if any([grad.is_complex() for grad in grads]):
        raise NotImplementedError("clamp is not supported for complex types")
    _write_over(grads, _clip_into, float(clip_value))
