"""Random tensors (`rand`, `randn`, `randint`, `normal`, …) and the methods that fill a tensor with random numbers.

The same seed gives the same bits as in PyTorch. `kernels.random` draws the numbers. This module must not know how.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.devices import DeviceLike
from ....foundations.dtypes import I64, Array, Shape, dtype as torch_dtype
from ....foundations.errors import kind_of
from ....kernels.layout import in_rows, slowest_first
from ....kernels.random import distributions as kernels, sampling
from ....ops import creation as ops
from ....ops.framework import Op
from ...arguments.checking import is_int
from ...arguments.generator import Generator, twister_of
from ...arguments.options import element_type, layout as Layout, made, memory_format as MemoryFormat, shape_of, strided
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out_rules import CONSTANT, RESIZED, UNASKED, Rule, rule
from ...recording.public import public
from ...state.base import TensorBase
from .creation import empty_as

_bernoulli, _bernoulli_like = recorded(ops.bernoulli), recorded(ops.bernoulli_like)
_normal_around, _normal_wide = recorded(ops.normal_around), recorded(ops.normal_wide)
_normal_around_wide = recorded(ops.normal_around_wide)


# New tensors

@public(
    "rand(ints size, options)",
    out=rule(gradient=CONSTANT, typed=True, notice="", in_memory_order=True),
    event="aten::rand")
def rand(*sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None, layout: Layout = strided,
         device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """Uniform samples from [0, 1). The shape is given as `rand(2, 3)` or `rand((2, 3))`.

    The dtype is `dtype`, or the default float dtype. Raises NotImplementedError for ints.
    """
    stream = twister_of("rand", generator)
    shape, target = shape_of("rand", sizes, size), element_type("rand", dtype)
    return made(ops.draw_by(kernels.uniform, stream, shape, target), device, requires_grad)


@public(
    "randn(ints size, options)",
    out=rule(gradient=RESIZED, typed=True, notice="", in_memory_order=True),
    event="aten::randn")
def randn(*sizes: Any, size: Any = None, generator: Generator | None = None, dtype: Any = None,
          layout: Layout = strided, device: Any = None, pin_memory: bool = False,
          requires_grad: bool = False) -> TensorBase:
    """Standard normal samples. The shape is given as `randn(2, 3)` or `randn((2, 3))`.

    The dtype is `dtype`, or the default float dtype. Raises NotImplementedError for ints.
    """
    stream = twister_of("randn", generator)
    shape, target = shape_of("randn", sizes, size), element_type("randn", dtype)
    return made(ops.draw_by(kernels.normal, stream, shape, target), device, requires_grad)


@public(
    "randint(int high, ints size, options)",
    "randint(int low, int high, ints size, options)",
    out=rule(gradient=CONSTANT, typed=True, notice="", in_memory_order=True),
    event="aten::randint",
    strict=True)
def randint(*args: Any, low: int | None = None, high: int | None = None, size: Any = None,
            generator: Generator | None = None, dtype: Any = None, layout: Layout = strided, device: Any = None,
            pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """Integers from [low, high), called as `randint(high, size)` or `randint(low, high, size)`.

    The dtype is `dtype`, or int64. Raises RuntimeError if `low` is not less than `high`.
    """
    bounds, size = _bounds_and_size(args, low, high, size)
    target = I64 if dtype is None else element_type("randint", dtype)
    shape = shape_of("randint", (size,))
    stream = twister_of("randint", generator)
    return made(ops.draw_by(sampling.randint, stream, shape, target, *bounds), device, requires_grad)


def _bounds_and_size(args: tuple[Any, ...], low: Any, high: Any, size: Shape | None) -> tuple[tuple[int, int], Any]:
    """The bounds and the size from the arguments of randint. `low` may be missing."""
    given = [*args]
    if size is None and given:
        size = given.pop()
    if high is None and given:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or high is None:
        raise TypeError("randint() received an invalid combination of arguments - expected (high, size) or "
                        "(low, high, size)")
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): argument 'size' (position {len(args)}) must be tuple of ints, not "
                        f"{kind_of(size)}")
    return (_integer("randint", "low", low), _integer("randint", "high", high)), size


def _integer(name: str, argument: str, value: Any) -> int:
    if isinstance(value, float) or not hasattr(value, "__index__"):
        kind = kind_of(value)
        raise TypeError(f"{name}(): argument '{argument}' (position 1) must be int, not {kind}")
    integer = int(value)
    if not -2**63 <= integer < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return integer


@public(
    "randperm(int n, options)",
    out=rule(gradient=CONSTANT, typed=True, repeated=True, notice=""),
    event="aten::randperm",
    strict=True)
def randperm(n: int, *, generator: Generator | None = None, dtype: torch_dtype | None = None, layout: Layout = strided,
             device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """A random permutation of the numbers 0 to n - 1, as a 1-d tensor. The dtype is `dtype`, or int64."""
    target = I64 if dtype is None else element_type("randperm", dtype)
    count = _integer("randperm", "n", n)
    stream = twister_of("randperm", generator)
    return made(ops.draw_by(sampling.randperm, stream, count, target), device, requires_grad)


def _out_of_normal(mean: Any = 0.0, std: Any = 1.0, size: Shape | None = None, **options: Any) -> Rule:
    """The rule of `normal` for `out`. It depends on whether tensors or `size` give the shape."""
    if size is None:
        return rule(uncastable="", widened=True, kernel=("normal_kernel_cpu", "f"))
    return rule(gradient=CONSTANT, typed=True, notice="", in_memory_order=True)


@public(
    "normal(Tensor mean, Tensor std, *, Generator generator=None, Tensor out=None)",
    "normal(Tensor mean, float std=1, *, Generator generator=None, Tensor out=None)",
    "normal(float mean, Tensor std, *, Generator generator=None, Tensor out=None)",
    "normal(float mean, float std, ints size, *, Generator generator=None, Tensor out=None, dtype dtype=None, "
    "layout layout=None, device device=None, bool pin_memory=False, bool requires_grad=False)",
    out=_out_of_normal,
    strict=True)
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, dtype: Any = None,
           layout: Layout = strided, device: Any = None, pin_memory: bool = False,
           requires_grad: bool = False) -> TensorBase:
    """Normal samples with these means and standard deviations.

    The shape is that of the tensors `mean` and `std`, broadcast, or `size` if both are numbers.
    Raises RuntimeError for a negative `std`.
    """
    stream = twister_of("normal", generator)
    tensors = isinstance(mean, TensorBase), isinstance(std, TensorBase)
    if not any(tensors) and size is not None:
        target = element_type("normal", dtype)
        shape, center, width = shape_of("normal", (size,)), float(mean), float(std)
        return made(ops.draw_by(kernels.normal, stream, shape, target, center, width), device, requires_grad)
    if not any(tensors) or size is not None:
        kinds = ", ".join(kind_of(x) for x in (mean, std, size) if x is not None)
        raise TypeError(f"normal() received an invalid combination of arguments - got ({kinds}), but expected one of: "
                        "(Tensor mean, Tensor std), (Tensor mean, float std), (float mean, Tensor std), "
                        "(float mean, float std, tuple of ints size)")
    result: TensorBase
    if all(tensors):
        result = _normal_around_wide(mean, std, lambda m, s: kernels.normal_around(stream, m, s))
    elif tensors[0]:
        result = _normal_around(mean, lambda m: kernels.normal_around(stream, m, float(std)))
    else:
        result = _normal_wide(std, lambda s: kernels.normal_around(stream, float(mean), s))
    return result


@public(
    "bernoulli(Tensor input, *, Generator generator=None, Tensor out=None)",
    "bernoulli(Tensor input, float p, *, Generator generator=None)",
    out=rule(uncastable="", notice="", kernel=("bernoulli_tensor_cpu_self_", "biuf")),
    strict=True, method=True)
def bernoulli(input: TensorBase, p: float | None = None, *, generator: Generator | None = None) -> TensorBase:
    """Ones and zeros in the shape and the dtype of `input`. The probability of a one is `p`, or the element of `input`.

    Raises RuntimeError if a probability is not in [0, 1].
    """
    stream = twister_of("bernoulli", generator)
    if p is None:
        return _bernoulli(input, lambda x: kernels.bernoulli(stream, x.shape, x.dtype,  # type: ignore[no-any-return]
        x))
    return _bernoulli_like(  # type: ignore[no-any-return]
        input, lambda x: kernels.bernoulli(stream, x.shape, x.dtype, float(p)))


@public(
    "multinomial(Tensor input, int num_samples, bool replacement=False, *, Generator generator=None, Tensor out=None)",
    out=rule(exact="multinomial expects Long tensor out, got: {out}", dtype=I64, gradient=UNASKED, notice=""),
    strict=True, method=True)
def multinomial(input: TensorBase, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None) -> TensorBase:
    """`num_samples` indices, drawn with the weights in `input`: a row of weights, or a matrix of rows.

    The result is int64 and has the shape (num_samples) or (rows, num_samples). Raises RuntimeError for negative
    weights, and if there are too few weights without `replacement`.
    """
    stream = twister_of("multinomial", generator)
    return made(ops.draw_for(input._array, lambda x: np.ascontiguousarray(
        sampling.multinomial(stream, x, num_samples, replacement)), ops.random_from), None, False)


# Like another tensor

@public("rand_like(Tensor input, like)", event="aten::rand_like")
def rand_like(input: TensorBase, *, generator: Generator | None = None, dtype: torch_dtype | None = None,
              layout: Layout | None = None, device: DeviceLike | None = None, pin_memory: bool = False,
              requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> TensorBase:
    """Uniform samples from [0, 1), with the shape, the dtype and the order in memory of `input`."""
    stream = twister_of("rand_like", generator)
    drawn = _drawn_like("rand_like", input, dtype, memory_format, lambda m, rows: kernels.uniform(
        stream, m.shape, m.dtype))
    return made(drawn, device, requires_grad)


@public("randn_like(Tensor input, like)", event="aten::randn_like")
def randn_like(input: TensorBase, *, generator: Generator | None = None, dtype: torch_dtype | None = None,
               layout: Layout | None = None, device: DeviceLike | None = None, pin_memory: bool = False,
               requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> TensorBase:
    """Standard normal samples, with the shape, the dtype and the order in memory of `input`."""
    stream = twister_of("randn_like", generator)
    drawn = _drawn_like("randn_like", input, dtype, memory_format, lambda m, rows: kernels.normal(
        stream, m.shape, m.dtype, contiguous=rows))
    return made(drawn, device, requires_grad)


@public(
    "randint_like(Tensor input, int low, int high, like)",
    "randint_like(Tensor input, Tensor high, like)",
    "randint_like(Tensor input, int high, like)",
    event="aten::randint_like",
    strict=True)
def randint_like(input: TensorBase, *args: Any, low: int | None = None, high: int | None = None,
                 generator: Generator | None = None, dtype: torch_dtype | None = None, layout: Layout | None = None,
                 device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
                 memory_format: MemoryFormat | None = None) -> TensorBase:
    """Integers from [low, high) with the shape, the dtype and the order in memory of `input`. `low` defaults to 0."""
    bounds, _ = _bounds_and_size((*args, ()), low, high, None)
    stream = twister_of("randint_like", generator)
    drawn = _drawn_like("randint_like", input, dtype, memory_format, lambda m, rows: sampling.randint(
        stream, m.shape, m.dtype, *bounds))
    return made(drawn, device, requires_grad)


def _drawn_like(name: str, input: TensorBase, dtype: torch_dtype | None, memory_format: MemoryFormat | None,
                draw: Callable[[Array, bool], Array]) -> Any:
    """Random numbers like a tensor. `draw` is also told whether the new array lies row by row."""
    target = input._array.dtype if dtype is None else element_type(name, dtype)

    def like(x: Array) -> Array:
        out = empty_as(x, target, memory_format)
        rows = in_rows(out)
        return in_memory_order(out, lambda m: draw(m, rows))

    return ops.draw_for(input._array, like)


def in_memory_order(x: Array, draw: Callable[..., Array], *beside: Array) -> Array:
    """The random array that `draw` makes for `x` and for the arrays `beside` x of the same shape.

    PyTorch fills memory in the order of addresses. So `draw` gets arrays whose dimensions are in this order.
    """
    if in_rows(x):
        return draw(x, *beside)
    axes = slowest_first(x)
    return draw(*[array.transpose(axes) for array in (x, *beside)]).transpose(np.argsort(axes))


# In place

def _fill(op: Op, kernel: Callable[..., Array], self: TensorBase, generator: Any, *args: Any) -> Any:
    """Fill the tensor with what the kernel draws for these arguments, in the order of the memory."""
    stream = twister_of(f"{op.name}_", generator)
    return over(op, self, lambda x: in_memory_order(x, lambda m: kernel(stream, m.shape, m.dtype, *args)))


def _first(name: str, value: Any, named: dict[str, Any]) -> Any:
    """The argument that PyTorch calls `from`. `from` is a keyword in Python, so no parameter can have this name."""
    value = named.pop("from", value)
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
    return value


@public("uniform_(Tensor input, float from=0, float to=1, *, Generator generator=None)", method=True, bound=True)
def uniform_(self: TensorBase, low: float = 0.0, /, to: float = 1.0, *, generator: Generator | None = None,
             **named: Any) -> TensorBase:
    """Fill the tensor with uniform samples from [from, to). Raises RuntimeError if `from` is larger than `to`."""
    start = float(_first("uniform_", low, named))
    return _fill(ops.uniform, kernels.uniform, self, generator, start, float(to))  # type: ignore[no-any-return]


@public("normal_(Tensor input, float mean=0, float std=1, *, Generator generator=None)", method=True, bound=True)
def normal_(self: TensorBase, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> TensorBase:
    """Fill the tensor with normal samples. Raises RuntimeError if `std` is negative."""
    stream, mean, std = twister_of("normal_", generator), float(mean), float(std)

    def draw(x: Array) -> Array:
        rows = in_rows(x)
        return in_memory_order(x, lambda m: kernels.normal(stream, m.shape, m.dtype, mean, std, contiguous=rows))

    return over(ops.normal, self, draw)  # type: ignore[no-any-return]


def _bound(value: Any) -> int | None:
    """The bound of `random_` as an int. Raises TypeError for what is no int."""
    if value is None:
        return None
    if not is_int(value):
        raise TypeError(f"random_(): a bound must be int, not {kind_of(value)}")
    return int(value)


@public(
    "random_(Tensor input, *, Generator generator=None)",
    "random_(Tensor input, int from, int to, *, Generator generator=None)",
    "random_(Tensor input, int to, *, Generator generator=None)",
    method=True, bound=True)
def random_(self: TensorBase, *bounds: int | None, to: int | None = None, generator: Generator | None = None,
            **named: Any) -> TensorBase:
    """Fill the tensor with integers: `random_(from, to)` draws from [from, to), and `random_(to)` from [0, to).

    `random_()` draws from all numbers that the dtype represents exactly, from 0 on.
    """
    start = _bound(_first("random_", bounds[0] if len(bounds) + (to is not None) > 1 else None, named))
    end = _bound(to if to is not None or not bounds else bounds[-1])
    op = ops.random if start is None and end is None else ops.random_below if start is None else ops.random_between
    return _fill(op, sampling.randint, self, generator, start, end)  # type: ignore[no-any-return]


def _expanded(array: Array, shape: tuple[int, ...]) -> Array:
    """The array, broadcast to `shape`. Raises RuntimeError if the array does not fit the shape."""
    lead = len(shape) - array.ndim
    for dim, (have, want) in enumerate(zip(array.shape, shape[lead:]), lead):
        if have not in (1, want):
            raise RuntimeError(f"The expanded size of the tensor ({want}) must match the existing size ({have}) at "
                               f"non-singleton dimension {dim}.  Target sizes: {list(shape)}.  Tensor sizes: "
                               f"{list(array.shape)}")
    if lead < 0:
        raise RuntimeError(f"the number of sizes provided ({len(shape)}) must be greater or equal to the number of "
                           f"dimensions in the tensor ({array.ndim})")
    return np.broadcast_to(array, shape)


@public(
    "bernoulli_(Tensor input, Tensor p, *, Generator generator=None)",
    "bernoulli_(Tensor input, float p=0.5, *, Generator generator=None)",
    method=True, bound=True)
def bernoulli_(self: TensorBase, p: Any = 0.5, *, generator: Generator | None = None) -> TensorBase:
    """Fill the tensor with ones and zeros. The probability of a one is `p`, a number or a tensor.

    Raises RuntimeError if a probability is not in [0, 1].
    """
    if not isinstance(p, TensorBase):
        return _fill(ops.bernoulli_by_number, kernels.bernoulli, self, generator,  # type: ignore[no-any-return]
                     float(p))
    stream = twister_of("bernoulli_", generator)

    def draw(x: Array, chances: Array) -> Array:
        return in_memory_order(x, lambda m, p: kernels.bernoulli(stream, m.shape, m.dtype, p),
                                _expanded(chances, x.shape))

    return over(ops.bernoulli_by_tensor, self, p, draw)  # type: ignore[no-any-return]


@public("exponential_(Tensor input, float lambd=1, *, Generator generator=None)", method=True, bound=True)
def exponential_(self: TensorBase, lambd: float = 1.0, *, generator: Generator | None = None) -> TensorBase:
    """Fill the tensor with exponentially distributed samples of mean 1 / lambd."""
    return _fill(ops.exponential, kernels.exponential, self, generator, float(lambd))  # type: ignore[no-any-return]


@public("geometric_(Tensor input, float p, *, Generator generator=None)", method=True, bound=True)
def geometric_(self: TensorBase, p: float, *, generator: Generator | None = None) -> TensorBase:
    """Fill the tensor with geometric samples: the number of trials, each of probability `p`, up to a success."""
    return _fill(ops.geometric, kernels.geometric, self, generator, float(p))  # type: ignore[no-any-return]


@public("log_normal_(Tensor input, float mean=1, float std=2, *, Generator generator=None)", method=True, bound=True)
def log_normal_(self: TensorBase, mean: float = 1.0, std: float = 2.0, *,
                generator: Generator | None = None) -> TensorBase:
    """Fill the tensor with the exponentials of normal samples with this mean and standard deviation."""
    return _fill(ops.log_normal, kernels.log_normal, self, generator, float(mean), float(std))  # type: ignore[no-any-return]


@public("cauchy_(Tensor input, float median=0, float sigma=1, *, Generator generator=None)", method=True, bound=True)
def cauchy_(self: TensorBase, median: float = 0.0, sigma: float = 1.0, *,
            generator: Generator | None = None) -> TensorBase:
    """Fill the tensor with Cauchy-distributed samples."""
    return _fill(ops.cauchy, kernels.cauchy, self, generator, float(median), float(sigma))  # type: ignore[no-any-return]
