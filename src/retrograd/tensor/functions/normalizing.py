"""Norms, log-sum-exp and softmax, as functions and methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dtypes import dtype as torch_dtype
from ...ops import basic, normalizing as ops, softmax as softmax_ops
from ..dims import Dims, array_of, axes_of, axis_of
from ..into import into
from ..options import element_type
from ..recording import recorded
from .reductions import flag

_norm, _logsumexp, _cast = recorded(ops.norm), recorded(ops.logsumexp), recorded(basic.cast)
_softmax, _log_softmax = recorded(softmax_ops.softmax), recorded(softmax_ops.log_softmax)


def norm(input: Any, p: float | str | None = "fro", dim: Dims | None = None, keepdim: bool = False,
         dtype: Any = None, *, out: Any = None) -> Any:
    """The p-norm over `dim` of the elements as a vector: (sum |x|^p)^(1/p), for "fro" and None with p = 2.

    For p = inf and -inf it is the largest and smallest |x|, for p = 0 how many are not zero. Where the norm is 0 its
    gradient is 0. Raises RuntimeError for ints, for other names of norms, and for an extreme of nothing.

    >>> import retrograd as torch
    >>> torch.tensor([3., 4.]).norm()
    tensor(5.)
    """
    if out is not None:
        return into(out, norm, input, p, dim, keepdim, dtype)
    array = array_of("norm", input)
    if p is None or p == "fro":
        p = 2.0
    elif isinstance(p, str):
        if p == "nuc":
            raise RuntimeError("norm(): the nuclear norm is a matrix norm: use torch.linalg.matrix_norm(x, 'nuc').")
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported. Use 'fro', a number, or math.inf.")
    if array.dtype.kind not in "fc":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{torch_dtype.of[array.dtype].legacy}. Convert with .float() first.")
    axes = axes_of("norm", dim, array.ndim)
    if array.size == 0 and (p < 0 or p == math.inf):
        if dim is None or dim in ((), []):
            raise RuntimeError(f"linalg.vector_norm cannot compute the {p} norm on an empty tensor because the "
                               "operation does not have an identity")
        for axis in axes:
            if array.shape[axis] == 0:
                raise RuntimeError(f"linalg.vector_norm cannot compute the {p} norm on the dimension {axis}because "
                                   "this dimension is empty and the operation does not have an identity")
    return _norm(input, p, axes, flag("norm", keepdim), None if dtype is None else element_type("norm", dtype))


def logsumexp(input: Any, dim: Dims | None = None, keepdim: bool = False, *, axis: Any = None,
              keepdims: Any = None, out: Any = None) -> Any:
    """log(sum(exp(x))) over `dim`, without overflow. Ints become the default float type."""
    if out is not None:
        return into(out, logsumexp, input, dim, keepdim, axis=axis, keepdims=keepdims)
    dim = dim if axis is None else axis
    if dim is None:
        raise TypeError('logsumexp() missing 1 required positional arguments: "dim"')
    axes = axes_of("logsumexp", dim, array_of("logsumexp", input).ndim)
    return _logsumexp(input, axes, flag("logsumexp", keepdim, keepdims))


def _over_dim(name: str, call: Callable[..., Any], what: str) -> Callable[..., Any]:
    """softmax or log_softmax."""

    def function(input: Any, dim: int, dtype: Any = None, *, out: Any = None) -> Any:
        if out is not None:
            return into(out, function, input, dim, dtype)
        array = array_of(name, input)
        if dtype is not None:
            dtype = element_type(name, dtype)
            if dtype is not array.dtype:
                input = _cast(input, dtype)
        return call(input, axis_of(name, dim, array.ndim))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"{what} along `dim`; of the tensor in type `dtype`, where one is given.\n\n    "
                        "Raises NotImplementedError for ints and complex numbers.")
    return function


softmax = _over_dim("softmax", _softmax, "exp(x), scaled to a sum of 1")
log_softmax = _over_dim("log_softmax", _log_softmax, "log(softmax(x)), computed at once,")


class NormalizingMethods:
    """Norms and softmax, as methods."""

    __slots__ = ()

    norm, logsumexp, softmax, log_softmax = norm, logsumexp, softmax, log_softmax
