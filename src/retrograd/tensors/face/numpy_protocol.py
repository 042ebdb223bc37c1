"""NumPy's dispatch: the meaning of NumPy calls on tensors. So derivative rules, which call NumPy, record themselves.

A ufunc means the operator whose kernel it is. The tables of the families of functions have the meaning of every other
NumPy function. This module gathers the tables, and has no entries of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import dtype
from ...foundations.errors import noted
from ...foundations.modes import local
from ...ops.framework import Op
from ..functions import deprecated, differences, other_backends, quantiles, reductions, sparse, spectral, sums
from ..functions.creation import creation, random
from ..functions.elementwise import activations, arithmetic, blending, comparison, elementary, number_parts, special
from ..functions.indexing import gathering, histograms, indexing, scattering, sorting, uniques
from ..functions.linalg import (
    accumulating,
    contraction,
    determinants,
    distances,
    factorizations,
    matrix,
    norms,
    packed_factors,
    products,
    solving,
)
from ..functions.networks import softmax
from ..functions.shapes import (
    axes,
    combining,
    geometry,
    joining,
    rearranging,
    shape,
    view_copies,
    view_scatters,
)
from ..recording.calls import CALLS
from ..recording.operands import OPERANDS
from ..state.base import TensorBase, plain, requires
from . import calling, conversion, copying, data, gradient_dtype, interop, layout, sharing, storage, swapping

# The families of functions. Their modules declare methods of tensors, or what NumPy's functions mean, or both.
FAMILIES = (accumulating, activations, arithmetic, axes, blending, calling, combining, comparison, contraction,
            conversion, copying, creation, deprecated, determinants, differences, distances, elementary,
            factorizations, gathering, geometry, gradient_dtype, histograms, indexing, interop, joining, layout, matrix,
            norms, number_parts, other_backends, packed_factors, products, quantiles, random, rearranging, reductions,
            data, scattering, shape, sharing, softmax, solving, sorting, sparse, special, spectral, storage, sums,
            swapping, uniques, view_copies, view_scatters)
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    function: handler for family in FAMILIES for function, handler in getattr(family, "NUMPY", {}).items()}
# The functions with an entry above that `np.add.reduce` and similar methods stand for.
REDUCTIONS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
                              np.logical_and: np.all, np.logical_or: np.any}
# The operators for which a NumPy scalar to the left of a tensor counts as a Python number.
REFLECTED: dict[Any, str] = {np.add: "__radd__", np.subtract: "__rsub__", np.multiply: "__rmul__",
                             np.divide: "__rtruediv__", np.power: "__rpow__"}


class NumpyProtocol:
    """The methods by which NumPy and our operators hand a call over to tensors."""

    __slots__ = ()

    @staticmethod
    def __op__(op: Op, args: tuple[Any, ...]) -> Any:
        """Record a call of an operator with a tensor. The other operands may be arrays."""
        if op.variadic:
            return CALLS[op](as_tensors(args[0]), *args[1:])
        for operand in args[:op.arity]:
            if isinstance(operand, np.ndarray):
                return CALLS[op](*as_tensors(args[:op.arity]), *args[op.arity:])
        return CALLS[op](*args)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Handle a call of a ufunc with a tensor. Raises TypeError if a gradient would be lost."""
        if options and options.get("out") is ...:
            del options["out"]                           # `...` asks for an array as result, which a tensor always is
        if method == "__call__" and not options:
            op = Op.by_kernel.get(ufunc)
            if op is not None and all([isinstance(x, OPERANDS) for x in inputs]):
                if isinstance(inputs[0], np.generic) and ufunc in REFLECTED:
                    return getattr(inputs[1], REFLECTED[ufunc])(inputs[0].item())
                try:
                    return CALLS[op](*as_tensors(inputs))
                except TypeError:                        # NumPy may take a number there, unlike PyTorch
                    if _loses_grad(inputs):
                        raise
                    return wrapped(ufunc(*raw(inputs)))
        targets = options.get("out") or ()
        if _foreign((*inputs, *targets)):
            return NotImplemented
        return _unusual(ufunc, method, inputs, options, targets)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: tuple[Any, ...],
                           kwargs: Mapping[str, Any]) -> Any:
        """Handle a call of any other NumPy function with a tensor. Raises TypeError if a gradient would be lost."""
        if len(types) > 1 and not all(issubclass(t, (TensorBase, np.ndarray)) for t in types):
            return NotImplemented
        handler = FUNCTIONS.get(function)
        if handler is not None:
            try:
                return handler(*args, **kwargs)
            except TypeError:                            # the entry does not take these arguments, but NumPy may
                if _loses_grad((args, kwargs)):
                    raise
        _refuse_grad(f"{function.__module__}.{function.__name__}", (args, kwargs))
        return function(*raw(args), **raw(kwargs))


def _unusual(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any],
             targets: tuple[Any, ...]) -> Any:
    """A call of a ufunc that has options, no operator, or a list as operand; or a call of a method of a ufunc."""
    name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if any(isinstance(target, TensorBase) for target in targets):
        raise TypeError(f"{name}: out= must be an array, not a Tensor. Write over a tensor with its own method that "
                        "ends in an underscore, or with copy_().")
    if method == "__call__" and not options:
        op = Op.by_kernel.get(ufunc)
        call = FUNCTIONS.get(ufunc) if op is None else CALLS[op]
        if call is not None:
            try:
                return call(*[plain(np.asarray(x)) if isinstance(x, (list, tuple, np.ndarray)) else x for x in inputs])
            except TypeError:
                if _loses_grad(inputs):
                    raise
    if method == "reduce" and ufunc in REDUCTIONS and not targets:
        return REDUCTIONS[ufunc](*inputs, **{"axis": 0, **options})
    _refuse_grad(name, (inputs, options))
    results = getattr(ufunc, method)(*raw(inputs), **options)
    return results if targets else wrapped(results)


def as_tensors(operands: Sequence[Any]) -> list[Any]:
    """The operands, with tensors in place of arrays."""
    return [plain(x) if isinstance(x, np.ndarray) else x for x in operands]


def raw(value: Any) -> Any:
    """`value`, with each tensor in it replaced by its array."""
    if isinstance(value, TensorBase):
        return value._array
    if isinstance(value, dict):
        return {key: raw(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(raw(item) for item in value)
    return value


def wrapped(value: Any) -> Any:
    """NumPy's results as tensors, if tensors have their type."""
    if isinstance(value, tuple):
        return tuple(wrapped(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype in dtype.of:
        return plain(np.asarray(value))
    return value


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, dict) or type(value) in (list, tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def _loses_grad(arguments: Any) -> bool:
    """Whether a gradient would be lost if NumPy computed with these arguments."""
    return local.thread.grad and any(requires(tensor) for tensor in _tensors(arguments))


def _refuse_grad(name: str, arguments: Any) -> None:
    """Raise TypeError for a call without an entry, if it would lose a gradient."""
    if _loses_grad(arguments):
        raise noted(
            TypeError(f"{name}() cannot be recorded: no operator stands for it, or not with these options, and an "
                      "argument requires grad. Call it on t.detach().numpy() if it needs no gradient."),
            "tensors#numpy-function-not-recorded")


def _foreign(values: tuple[Any, ...]) -> bool:
    """Whether one of the values is no tensor, but handles NumPy's calls itself."""
    return any(hasattr(type(x), "__array_ufunc__") and not isinstance(x, OPERANDS) for x in values)
