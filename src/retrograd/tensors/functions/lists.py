"""torch._foreach_*: functions of lists of tensors, which optimizers call. Each computes for one tensor after another.

Programs of PyTorch reach them as `torch._foreach_add`. A function whose name ends with `_` writes over the tensors, and
returns the list that it was given. The other functions return a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import kind_of
from ...foundations.modes import local
from ..recording.inplace import check_writable
from ..recording.operands import scalar
from ..state.base import TensorBase, requires
from .linalg.norms import vector_norm

Call = tuple[tuple[Any, ...], dict[str, Any]]
Calls = Callable[..., Sequence[Call]]
ListFunction = Callable[..., Any]


def _tensors(name: str, value: Sequence[TensorBase], place: int = 0) -> Sequence[Any]:
    """A list of tensors, which an argument must be. Raises TypeError otherwise."""
    if not isinstance(value, (list, tuple)):
        argument = "self" if place == 0 else "other"
        raise TypeError(f"{name}(): argument '{argument}' (position {place + 1}) must be tuple of Tensors, "
                        f"not {kind_of(value)}")
    for i, item in enumerate(value):
        if not isinstance(item, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument {place}, but got {kind_of(item)}")
    return value


def _some(name: str, value: Any) -> Sequence[Any]:
    """The first argument. Raises RuntimeError if it is empty."""
    if not _tensors(name, value):
        raise RuntimeError("Tensor list must have at least one tensor.")
    return value  # type: ignore[no-any-return]


def _same_number(name: str, tensors: Sequence[Any], value: Any, place: int) -> Sequence[Any]:
    """Another list of as many tensors."""
    if len(_tensors(name, value, place)) != len(tensors):
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(value)}")
    return value  # type: ignore[no-any-return]


def _operands(name: str, tensors: Sequence[Any], value: Any, place: int) -> Sequence[Any]:
    """One operand for each tensor: a number for all, a tensor of one number for all, or a list of either."""
    if isinstance(value, TensorBase):
        if value.ndim:
            raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {value.ndim} dimensions and "
                               f"{value.numel()} elements.")
        return [value] * len(tensors)
    if isinstance(value, Number):
        return [value] * len(tensors)
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got (list, {kind_of(value)})")
    if not all(isinstance(item, Number) for item in value):
        return _same_number(name, tensors, value, place)
    if len(value) != len(tensors):
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return value


# The arguments for each tensor


def _alone(name: str, tensors: Sequence[Any], *more: Any) -> Sequence[Call]:
    if more:
        raise TypeError(f"{name}() takes 1 positional argument but {1 + len(more)} were given")
    return [((), {})] * len(tensors)


def _with_operand(name: str, tensors: Sequence[Any], *given: Any, alpha: Any = 1, **named: Any) -> Sequence[Call]:
    values = [*given, *named.values()]                       # PyTorch calls it other, scalar, scalars or exponent
    if len(values) != 1:
        kinds = ", ".join(["list", *map(kind_of, values)])
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds})")
    options = {} if type(alpha) is int and alpha == 1 else {"alpha": alpha}
    if options and not isinstance(values[0], TensorBase):
        _tensors(name, values[0], 1)                         # there is no alpha for numbers
    return [((operand,), options) for operand in _operands(name, tensors, values[0], 1)]


def _with_tensor(name: str, tensors: Sequence[Any], *given: Any, **named: Any) -> Sequence[Call]:
    """The operands as tensors: the functions that take them take no numbers."""
    calls = _with_operand(name, tensors, *given, **named)
    return [((operand if isinstance(operand, TensorBase) else scalar(operand, x._array.dtype),), {})
            for x, ((operand,), _) in zip(tensors, calls)]


def _with_product(name: str, tensors: Sequence[Any], tensor1: Sequence[TensorBase] | None = None,
                  tensor2: Sequence[TensorBase] | None = None, value: Any = 1, *,
                  scalars: Any = None) -> Sequence[Call]:
    values = value if scalars is None else scalars
    if isinstance(values, TensorBase):
        if values.ndim != 1:
            raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {values.ndim} instead.")
        if len(values) != len(tensors):
            raise RuntimeError(f"Expected length of scalars to match input of length {len(tensors)} but got "
                               f"{len(values)} instead.")
        values = values.tolist()
    triples = zip(_same_number(name, tensors, tensor1, 1), _same_number(name, tensors, tensor2, 2),
                  _operands(name, tensors, values, 3))
    return [((left, right), {"value": factor}) for left, right, factor in triples]


def _with_end(name: str, tensors: Sequence[Any], tensors1: Sequence[TensorBase] | None = None,
              weight: TensorBase | None = None, *, weights: Any = None) -> Sequence[Call]:
    ends = _same_number(name, tensors, tensors1, 1)
    shares = _operands(name, tensors, weight if weights is None else weights, 2)
    return [(pair, {}) for pair in zip(ends, shares)]


# The functions


def _twins(op: str, calls: Calls = _alone, method: str = "") -> tuple[ListFunction, ListFunction]:
    """The function that makes new tensors by a method of tensors, and the function that writes over the tensors."""

    def new(self: Sequence[TensorBase], *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        given = calls(new.__name__, _some(new.__name__, self), *args, **kwargs)
        return tuple([getattr(x, method or op)(*some, **options) for x, (some, options) in zip(self, given)])

    def written(self: Sequence[TensorBase], *args: Any, **kwargs: Any) -> Any:
        given = calls(written.__name__, _some(written.__name__, self), *args, **kwargs)
        if local.thread.grad:
            for x in self:
                check_writable(x, requires(x))
        for x, (some, options) in zip(self, given):
            getattr(x, f"{method or op}_")(*some, **options)
        return self

    new.__name__ = new.__qualname__ = f"_foreach_{op}"
    written.__name__ = written.__qualname__ = f"_foreach_{op}_"
    new.__doc__ = f"New tensors: `{method or op}` of each tensor of a list."
    written.__doc__ = f"Write `{method or op}` over each tensor of a list."
    return new, written


_foreach_abs, _foreach_abs_ = _twins("abs")
_foreach_acos, _foreach_acos_ = _twins("acos")
_foreach_asin, _foreach_asin_ = _twins("asin")
_foreach_atan, _foreach_atan_ = _twins("atan")
_foreach_ceil, _foreach_ceil_ = _twins("ceil")
_foreach_cos, _foreach_cos_ = _twins("cos")
_foreach_cosh, _foreach_cosh_ = _twins("cosh")
_foreach_erf, _foreach_erf_ = _twins("erf")
_foreach_erfc, _foreach_erfc_ = _twins("erfc")
_foreach_exp, _foreach_exp_ = _twins("exp")
_foreach_expm1, _foreach_expm1_ = _twins("expm1")
_foreach_floor, _foreach_floor_ = _twins("floor")
_foreach_frac, _foreach_frac_ = _twins("frac")
_foreach_lgamma, _foreach_lgamma_ = _twins("lgamma")
_foreach_log, _foreach_log_ = _twins("log")
_foreach_log10, _foreach_log10_ = _twins("log10")
_foreach_log1p, _foreach_log1p_ = _twins("log1p")
_foreach_log2, _foreach_log2_ = _twins("log2")
_foreach_neg, _foreach_neg_ = _twins("neg")
_foreach_reciprocal, _foreach_reciprocal_ = _twins("reciprocal")
_foreach_round, _foreach_round_ = _twins("round")
_foreach_rsqrt, _foreach_rsqrt_ = _twins("rsqrt")
_foreach_sigmoid, _foreach_sigmoid_ = _twins("sigmoid")
_foreach_sign, _foreach_sign_ = _twins("sign")
_foreach_sin, _foreach_sin_ = _twins("sin")
_foreach_sinh, _foreach_sinh_ = _twins("sinh")
_foreach_sqrt, _foreach_sqrt_ = _twins("sqrt")
_foreach_tan, _foreach_tan_ = _twins("tan")
_foreach_tanh, _foreach_tanh_ = _twins("tanh")
_foreach_trunc, _foreach_trunc_ = _twins("trunc")
_foreach_clone, _ = _twins("clone")
_, _foreach_zero_ = _twins("zero")
_foreach_max, _ = _twins("max")
_foreach_add, _foreach_add_ = _twins("add", _with_operand)
_foreach_sub, _foreach_sub_ = _twins("sub", _with_operand)
_foreach_mul, _foreach_mul_ = _twins("mul", _with_operand)
_foreach_div, _foreach_div_ = _twins("div", _with_operand)
_foreach_clamp_min, _foreach_clamp_min_ = _twins("clamp_min", _with_operand)
_foreach_clamp_max, _foreach_clamp_max_ = _twins("clamp_max", _with_operand)
_foreach_maximum, _ = _twins("maximum", _with_tensor)
_foreach_minimum, _ = _twins("minimum", _with_tensor)
# `Tensor.maximum` has no form that writes.
_, _foreach_maximum_ = _twins("maximum", _with_operand, "clamp_min")
_, _foreach_minimum_ = _twins("minimum", _with_operand, "clamp_max")
_powers, _foreach_pow_ = _twins("pow", _with_operand)
_foreach_addcmul, _foreach_addcmul_ = _twins("addcmul", _with_product)
_foreach_addcdiv, _foreach_addcdiv_ = _twins("addcdiv", _with_product)
_foreach_lerp, _foreach_lerp_ = _twins("lerp", _with_end)


def _foreach_pow(self: Any, exponent: Any) -> tuple[Any, ...]:
    """Powers of each tensor of a list, or of a number with each tensor of a list as the exponent."""
    if isinstance(self, Number):
        return tuple([self ** x for x in _some("_foreach_pow", exponent)])
    return _powers(self, exponent)  # type: ignore[no-any-return]


def _foreach_mm(self: Any, mat2: TensorBase) -> tuple[Any, ...]:
    """The products of the matrices of two lists."""
    others = _same_number("_foreach_mm", _some("_foreach_mm", self), mat2, 1)
    return tuple([x.mm(other) for x, other in zip(self, others)])


def _foreach_norm(self: Sequence[TensorBase], ord: Any = 2, dtype: torch_dtype | None = None) -> tuple[Any, ...]:
    """The norm of each tensor of a list, as of one long vector."""
    if not isinstance(ord, (int, float)):
        raise TypeError(f"_foreach_norm(): argument 'ord' (position 2) must be Number, not {kind_of(ord)}")
    return tuple([vector_norm(x, ord, dtype=dtype) for x in _some("_foreach_norm", self)])


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the tensors of another list over those of a list."""
    for x, other in zip(self, _same_number("_foreach_copy_", _some("_foreach_copy_", self), src, 1)):
        x.copy_(other, non_blocking)
    return self
