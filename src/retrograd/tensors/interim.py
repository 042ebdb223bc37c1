"""The tensors that rules compute with in a backward pass under a transform, if the pass is not recorded.

Nobody but the rules sees these tensors. So an operation on them only runs its operator: there is no node, no view to
remember and no layout to note. Anything unusual goes the way of all tensors, and its results are plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..dtypes import F32, F64
from ..ops.elementwise.arithmetic import add, div, mul, sub
from ..ops.framework import Op
from ..ops.shape import view
from .face.numpy_protocol import NumpyProtocol
from .recording.operands import NUMBERS, scalar
from .state.base import over
from .tensor import Tensor
from .transforms import rules
from .transforms.batched import Batched
from .transforms.views import viewed


def _usual(operands: tuple[Any, ...]) -> bool:
    """Whether all operands are interim tensors of one type, which operators leave as it is."""
    if type(operands[0]) is not Interim:
        return False
    dtype = operands[0]._array.dtype
    if dtype is not F32 and dtype is not F64:
        return False
    return all([type(x) is Interim and x._array.dtype is dtype for x in operands[1:]])


def _operator(op: Op, name: str) -> Callable[[Any, Any], Any]:
    """One of Python's operators, for an interim tensor and another one or a number."""
    general = getattr(Tensor, name)

    def method(self: Any, other: Any) -> Any:
        if type(other) in NUMBERS and _usual((self,)):
            return over(Interim, op.run(self._array, scalar(other, self._array.dtype)._array))
        return over(Interim, op.run(self._array, other._array)) if _usual((self, other)) else general(self, other)

    return method


@cache
def _operands(op: Op) -> int:
    """How many operands an operator has; 0 for an unusual operator, with several results or a list of operands."""
    return 0 if op.variadic or op.composition is not None or op.outputs != ("out",) else op.arity


def by_elements(rule: Callable[..., Any], cotangent: Any, values: Sequence[Any]) -> Interim:
    """What a rule that works element by element computes from the array of a cotangent and saved values."""
    return over(Interim, rules.by_elements([(rule, [cotangent._array, *values])]))  # type: ignore[no-any-return]


_general: Callable[[Op, tuple[Any, ...]], Any] = vars(NumpyProtocol)["__op__"]


class Interim(Tensor):
    """A tensor without history, view or hooks, which only rules see."""

    __slots__ = ()

    @staticmethod
    def __op__(op: Op, args: tuple[Any, ...]) -> Any:
        """Run an operator."""
        count = _operands(op)
        if count == 1:
            if _usual(args[:1]):
                array: Any = args[0]._array
                if op.view and type(array) is Batched:     # views concern no level
                    return over(Interim, viewed(op, op.compute, (array, *args[1:])))
                return over(Interim, op.run(array, *args[1:]))
        elif count and _usual(args[:count]):
            return over(Interim, op.run(*[x._array for x in args[:count]], *args[count:]))
        return _general(op, args)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Run the operator of a ufunc."""
        if method == "__call__" and not options and (op := Op.by_kernel.get(ufunc)) is not None and _usual(inputs):
            return over(Interim, op.run(*[x._array for x in inputs]))
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
