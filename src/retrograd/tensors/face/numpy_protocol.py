"""NumPy's dispatch: what a NumPy call on tensors means. A ufunc is the operator it is the kernel of; any other
function is found in the tables of the families. This is how derivative rules record themselves.

It gathers the families' tables and must not hold entries of its own, nor know what one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...dtypes import dtype
from ...modes import local
from ...ops.framework import Op
from ..functions import reductions
from ..functions.creation import creation
from ..functions.elementwise import arithmetic, comparison, elementary, special
from ..functions.indexing import indexing, sorting, uniques
from ..functions.linalg import contraction, determinants, factorizations as factorizations, matrix, solving
from ..functions.shapes import combining, joining, rearranging, shape
from ..recording.calls import recorded
from ..state.base import TensorBase, plain, requires
from . import interop

FAMILIES = (arithmetic, combining, comparison, contraction, creation, factorizations, determinants, elementary,
            indexing, interop, joining, matrix, rearranging, reductions, shape, solving, sorting, special,
            uniques)
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    function: handler for family in FAMILIES for function, handler in getattr(family, "NUMPY", {}).items()}
# What `np.add.reduce` and its like are, as functions that have an entry above.
REDUCTIONS: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
                              np.logical_and: np.all, np.logical_or: np.any}
# A NumPy scalar to the left of a tensor is a Python number there.
REFLECTED: dict[Any, str] = {np.add: "__radd__", np.subtract: "__rsub__", np.multiply: "__rmul__",
                             np.divide: "__rtruediv__", np.power: "__rpow__"}
OPERANDS = (TensorBase, np.ndarray, np.generic, int, float, complex)


def _is_operand(value: Any) -> bool:
    return isinstance(value, OPERANDS)


class NumpyProtocol:
    """The methods by which NumPy, and an operator of ours, hand a call over to tensors."""

    __slots__ = ()

    @staticmethod
    def __op__(op: Op, args: tuple[Any, ...]) -> Any:
        """An operator was called with a tensor: record it."""
        return recorded(op)(*args)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """A ufunc was called with a tensor. Raises TypeError where a gradient would be lost."""
        if options and options.get("out") is ...:
            del options["out"]                           # "return an array": tensors have no other results
        if method == "__call__" and not options:
            op = Op.by_kernel.get(ufunc)
            if op is not None and all(map(_is_operand, inputs)):
                if isinstance(inputs[0], np.generic) and ufunc in REFLECTED:
                    return getattr(inputs[1], REFLECTED[ufunc])(inputs[0].item())
                try:
                    return recorded(op)(*inputs)
                except TypeError:                        # PyTorch takes no number there: NumPy may
                    if _loses_grad(inputs):
                        raise
                    return wrapped(ufunc(*raw(inputs)))
        targets = options.get("out") or ()
        if _foreign((*inputs, *targets)):
            return NotImplemented
        return _unusual(ufunc, method, inputs, options, targets)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Any other NumPy function was called with a tensor. Raises TypeError where a gradient would be lost."""
        if len(types) > 1 and not all(issubclass(t, (TensorBase, np.ndarray)) for t in types):
            return NotImplemented
        handler = FUNCTIONS.get(function)
        if handler is not None:
            try:
                return handler(*args, **kwargs)
            except TypeError:                            # an argument that only NumPy has, or an array beside a tensor
                if _loses_grad((args, kwargs)):
                    raise
        _refuse_grad(f"{function.__module__}.{function.__name__}", (args, kwargs))
        return function(*raw(args), **raw(kwargs))


def _unusual(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any],
             targets: tuple[Any, ...]) -> Any:
    """A ufunc with options, of no operator, with a list for an operand, or one of its methods."""
    name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if any(isinstance(target, TensorBase) for target in targets):
        raise TypeError(f"{name}: out= must be an array, not a Tensor. Write over a tensor with its own method that "
                        "ends in an underscore, or with copy_().")
    if method == "__call__" and not options:
        op = Op.by_kernel.get(ufunc)
        call = FUNCTIONS.get(ufunc) if op is None else recorded(op)
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


def raw(value: Any) -> Any:
    """`value` with the array of each tensor in it in the tensor's place."""
    if isinstance(value, TensorBase):
        return value._array
    if isinstance(value, dict):
        return {key: raw(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(raw(item) for item in value)
    return value


def wrapped(value: Any) -> Any:
    """NumPy's results as tensors, as far as tensors have their type."""
    if isinstance(value, tuple):
        return tuple(wrapped(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype in dtype.of:
        return plain(np.asarray(value))
    return value


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif type(value) in (list, tuple):
        for item in value:
            yield from _tensors(item)


def _loses_grad(arguments: Any) -> bool:
    """Whether a gradient would be lost if NumPy computed with these arguments."""
    return local.thread.grad and any(requires(tensor) for tensor in _tensors(arguments))


def _refuse_grad(name: str, arguments: Any) -> None:
    """Refuse a call that no entry stands for, where it would lose a gradient."""
    if _loses_grad(arguments):
        raise TypeError(f"{name}() cannot be recorded: no operator stands for it, or not with these options, and an "
                        "argument requires grad. Call it on t.detach().numpy() if no gradient is to flow through it.")


def _foreign(values: tuple[Any, ...]) -> bool:
    """Whether one of the values takes NumPy's calls over itself and is no tensor."""
    return any(hasattr(type(x), "__array_ufunc__") and not _is_operand(x) for x in values)
