"""Softmax and log-sum-exp, as functions and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....ops import basic
from ....ops.networks import softmax as ops
from ...arguments.dims import Dims, array_of, axes_of, axis_of
from ...arguments.options import element_type
from ...recording.calls import recorded
from ...recording.out import into
from ..reductions import flag

_logsumexp, _cast = recorded(ops.logsumexp), recorded(basic.cast)
_softmax, _log_softmax = recorded(ops.softmax), recorded(ops.log_softmax)


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


class SoftmaxMethods:
    """The same, as methods."""

    __slots__ = ()

    logsumexp, softmax, log_softmax = logsumexp, softmax, log_softmax
