"""Softmax and log-sum-exp, as functions and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....foundations.errors import warn_of_discarded_part
from ....ops import basic
from ....ops.networks import softmax as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import Dims, array_of, axes_of, axis_of
from ...arguments.options import element_type
from ...recording.calls import recorded
from ...recording.out_rules import EXACT, FREE, UNDERIVED, rule
from ...recording.public import methods, public
from ..sums import flag

_logsumexp, _cast = recorded(ops.logsumexp), recorded(basic.cast)
_softmax, _log_softmax = recorded(ops.softmax), recorded(ops.log_softmax)


@public(
    "logsumexp(Tensor input, ints[1] dim, bool keepdim=False, out)",
    out=rule(uncastable="logsumexp(): Expected floating point type for result tensor, but got: {out}", overlap=FREE,
        widened=True), method=True)
def logsumexp(input: TensorBase, dim: Dims | None = None, keepdim: bool = False) -> Any:
    """log(sum(exp(x))) over `dim`, without overflow. Ints become the default float dtype."""
    if dim is None:
        raise TypeError('logsumexp() missing 1 required positional arguments: "dim"')
    axes = axes_of("logsumexp", dim, array_of("logsumexp", input).ndim)
    return _logsumexp(input, axes, flag("logsumexp", keepdim))


def _over_dim(name: str, call: Callable[..., Any], what: str) -> Callable[..., Any]:
    """The function softmax or log_softmax."""

    @public(f"{name}(Tensor input, int dim, dtype dtype=None, out)", name=name,
            out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED),
            doc=f"{what} along `dim`. If `dtype` is given, the tensor is cast to it first.\n\n    "
                        "Raises NotImplementedError for ints and complex numbers.")
    def function(input: TensorBase, dim: int, dtype: Any = None) -> Any:
        array = array_of(name, input)
        if dtype is not None:
            dtype = element_type(name, dtype)
            warn_of_discarded_part(array.dtype, dtype)
            if dtype is not array.dtype:
                input = _cast(input, dtype)
        return call(input, axis_of(name, dim, array.ndim))

    return function


softmax = _over_dim("softmax", _softmax, "exp(x), scaled to a sum of 1")
log_softmax = _over_dim("log_softmax", _log_softmax, "log(softmax(x)), computed in one step without overflow,")


methods(softmax, log_softmax)
