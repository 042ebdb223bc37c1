"""The tensors that rules compute with in a backward pass under a transform, if the pass is not recorded.

Nobody but the rules sees these tensors. So an operation on them only runs its operator: there is no node, no view to
remember and no layout to note. Anything unusual goes the way of all tensors, and its results are plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..foundations.dtypes import F16, F32, F64
from ..ops.elementwise.arithmetic import add, div, mul, sub
from ..ops.framework import Op
from ..ops.shape import view
from .face.numpy_protocol import NumpyProtocol
from .recording.operands import NUMBERS, scalar
from .state.base import over
from .tensor import Tensor
from .transforms import rules
from .transforms.batched import Batched
from .transforms.levels import inner, inside, outer
from .transforms.views import viewed


def _arrays(op: Op, operands: Sequence[Any]) -> list[Any] | None:
    """The arrays of interim tensors that an operator takes as they are; None if an operand is something else."""
    arrays: list[Any] = []
    as_given, dtype = op.domain == "as given", None
    for x in operands:
        if type(x) is not Interim:
            if x is not None or not as_given:
                return None
            arrays.append(None)
            continue
        array = x._array
        if not as_given:                                   # no promotion changes a single of these types
            if dtype is None and (array.dtype is F32 or array.dtype is F64):
                dtype = array.dtype
            if array.dtype is not dtype:
                return None
        arrays.append(array)
    return arrays


def _operator(op: Op, name: str) -> Callable[[Any, Any], Any]:
    """One of Python's operators, for an interim tensor and another one or a number."""
    general = getattr(Tensor, name)

    def method(self: Any, other: Any) -> Any:
        if type(other) in NUMBERS and self._array.dtype is not F16 and _arrays(op, (self,)):
            return over(Interim, op.run(self._array, scalar(other, self._array.dtype)._array))
        arrays = _arrays(op, (self, other))
        return over(Interim, op.run(*arrays)) if arrays else general(self, other)

    return method


@cache
def _operands(op: Op) -> int:
    """How many operands an operator has; 0 for an unusual operator, with several results or a list of operands."""
    return 0 if op.variadic or op.composition is not None or op.outputs != ("out",) else op.arity


def by_elements(rule: Callable[..., Any], cotangent: Any, values: Sequence[Any]) -> Interim:
    """What a rule that works element by element computes from the array of a cotangent and saved values."""
    given = inner([cotangent._array, *values])
    with inside():
        found = rules.by_elements([(rule, given)])
    return over(Interim, outer(found))  # type: ignore[no-any-return]


_general: Callable[[Op, tuple[Any, ...]], Any] = vars(NumpyProtocol)["__op__"]


class Interim(Tensor):
    """A tensor without history, view or hooks, which only rules see."""

    __slots__ = ()

    @staticmethod
    def __op__(op: Op, args: tuple[Any, ...]) -> Any:
        """Run an operator."""
        count = _operands(op)
        arrays = _arrays(op, args[:count])
        if not arrays:
            return _general(op, args)
        if op.view and type(arrays[0]) is Batched:         # views concern no level
            return over(Interim, viewed(op, op.compute, (arrays[0], *args[1:])))
        return over(Interim, op.run(*arrays, *args[count:]))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Run the operator of a ufunc."""
        op = Op.by_kernel.get(ufunc)
        if op is not None and method == "__call__" and not options and (arrays := _arrays(op, inputs)):
            return over(Interim, op.run(*arrays))
        return super().__array_ufunc__(ufunc, method, *inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Take another shape, which rules do often, or call any other function of NumPy's."""
        if function is np.reshape and not kwargs and type(args[0]) is Interim and type(args[1]) is tuple:
            array: Any = args[0]._array
            if type(array) is Batched and array.in_rows:
                return over(Interim, viewed(view, view.compute, (array, args[1])))
            if type(array) is np.ndarray and array.flags.c_contiguous:
                return over(Interim, view.run(array, args[1]))
        return super().__array_function__(function, types, args, kwargs)


for _op, _name in ((add, "__add__"), (sub, "__sub__"), (mul, "__mul__"), (div, "__truediv__")):
    setattr(Interim, _name, _operator(_op, _name))
