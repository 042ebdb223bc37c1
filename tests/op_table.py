"""The table of operators: how each is called, on which inputs, where it is smooth. Checked without and with PyTorch.

An entry's call takes the library (retrograd, or PyTorch) and the input tensors. `shapes` are samples, each a tuple
with one shape an input; values are drawn from [low, high], away from kinks by default. `points` are values to look
at besides: kinks, zeros, infinities. `kinds` says which dtypes it takes: f(loat), c(omplex), i(nt), b(ool).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

Shapes = tuple[tuple[int, ...], ...]
ONE: tuple[Shapes, ...] = (((3, 4),), ((),), ((2, 1, 3),), ((0, 3),))
TWO: tuple[Shapes, ...] = (((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2, 3)), ((0, 3), (1, 3)))
DTYPES = {"f": ("float64", "float32"), "c": ("complex128",), "i": ("int64", "int32", "uint8"), "b": ("bool",)}


@dataclass(frozen=True)
class Entry:
    """One way of calling an operator."""

    name: str
    call: Callable[..., Any]
    shapes: tuple[Shapes, ...] = ONE
    low: float = -2.0
    high: float = 2.0
    kinds: str = "f"
    points: tuple[float, ...] = ()
    distinct: bool = False

    def __str__(self) -> str:
        return self.name

    def samples(self, dtype: str = "float64") -> Iterator[list[np.ndarray[Any, Any]]]:
        """The inputs of each sample, the same at every call."""
        draws = np.random.default_rng(crc32(self.name.encode()))
        for shapes in self.shapes:
            yield [self._array(draws, shape, np.dtype(dtype), i) for i, shape in enumerate(shapes)]

    def _array(self, draws: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any],
               input: int) -> np.ndarray[Any, Any]:
        if self.distinct:
            count = int(np.prod(shape))
            values = draws.permutation(np.linspace(self.low, self.high, count + 2)[1:-1]).reshape(shape) + 0.01 * input
        else:
            values = draws.uniform(self.low, self.high, shape)
        if dtype.kind == "c":
            return np.asarray(values + 1j * draws.uniform(self.low, self.high, shape)).astype(dtype)
        if dtype.kind == "u":
            values = np.abs(values)
        return np.asarray(values * (3 if dtype.kind in "iu" else 1)).astype(dtype)


def _named(name: str) -> Callable[..., Any]:
    """`torch.name(...)`."""
    return lambda torch, *inputs: getattr(torch, name)(*inputs)


def unary(names: str, **options: Any) -> list[Entry]:
    return [Entry(name, _named(name), **options) for name in names.split()]


def binary(names: str, **options: Any) -> list[Entry]:
    return [Entry(name, _named(name), TWO, **options) for name in names.split()]


INFINITE = (float("inf"), float("-inf"), float("nan"))
POINTWISE = [
    *unary("neg exp sin cos sinh cosh tanh square sigmoid", kinds="fci", points=(0.0, *INFINITE)),
    *unary("tan asinh atan expm1 exp2", kinds="fi", points=(0.0, *INFINITE)),
    *unary("abs sgn", low=0.2, kinds="fc", points=(0.0, -0.0, *INFINITE)),
    *unary("sign ceil floor trunc frac round", low=0.1, high=0.9, points=(0.0, 0.5, 1.0, -1.5, *INFINITE)),
    *unary("sqrt log log2 log10 rsqrt reciprocal", low=0.3, kinds="fci", points=(0.0, -1.0, *INFINITE)),
    *unary("log1p acosh", low=1.2, points=(0.0, -1.0, 1.0, *INFINITE)),
    *unary("asin acos atanh", low=-0.8, high=0.8, points=(0.0, 1.0, -1.0, 2.0)),
    *unary("relu", low=0.1, kinds="fi", points=(0.0, -0.0, *INFINITE)),
    *unary("deg2rad rad2deg positive"),
    *unary("erf erfc", points=(0.0, *INFINITE)),
    *unary("isnan isinf isfinite", kinds="fi", points=(0.0, *INFINITE)),
    *unary("logical_not", kinds="fib", points=(0.0,)),
    *binary("add sub mul", kinds="fci", points=(0.0, *INFINITE)),
    *binary("div", low=0.3, kinds="fci", points=(0.0, *INFINITE)),
    *binary("maximum minimum fmax fmin", distinct=True, kinds="fi", points=(0.0, 1.0, *INFINITE)),
    *binary("atan2 hypot logaddexp", low=0.2, points=(0.0, 1.0, -1.0)),
    *binary("eq ne lt le gt ge", kinds="fib", points=(0.0, *INFINITE)),
    *binary("logical_and logical_or logical_xor", kinds="fib"),
    *binary("pow", low=0.3, high=2.0, points=(0.0, 1.0, 2.0)),
    *binary("remainder fmod", low=0.3, high=0.9),
    *binary("floor_divide", low=1.0, high=5.0, kinds="i"),
    Entry("add alpha", lambda t, x, y: t.add(x, y, alpha=2), TWO, kinds="fci"),
    Entry("sub alpha", lambda t, x, y: t.sub(x, y, alpha=3), TWO, kinds="fci"),
    Entry("x + 2", lambda t, x: x + 2, kinds="fcib"),
    Entry("2.5 - x", lambda t, x: 2.5 - x, kinds="fci"),
    Entry("3 * x", lambda t, x: 3 * x, kinds="fcib"),
    Entry("2 / x", lambda t, x: 2 / x, low=0.3, kinds="fci", points=(0.0,)),
    *(Entry(f"x ** {p}", lambda t, x, p=p: x ** p, low=0.3, kinds="fc", points=(0.0, -1.0, *INFINITE))
      for p in (0, 1, 2, 3, 0.5, -1, 2.5, -2)),
    Entry("2 ** x", lambda t, x: 2 ** x),
    Entry("0 ** x", lambda t, x: 0 ** x, low=0.5, points=(0.0, 1.0)),
    Entry("div floor", lambda t, x, y: t.div(x, y, rounding_mode="floor"), TWO, low=0.3, kinds="fi"),
    Entry("div trunc", lambda t, x, y: t.div(x, y, rounding_mode="trunc"), TWO, low=0.3, kinds="fi"),
    Entry("clamp", lambda t, x: x.clamp(-1, 1), low=-0.9, high=0.9, kinds="fi", points=(-1.0, 1.0, 3.0, *INFINITE)),
    Entry("clamp min", lambda t, x: t.clamp(x, min=0), low=0.1, points=(0.0, -1.0, float("nan"))),
    Entry("clamp max", lambda t, x: t.clamp(x, max=0), low=0.1, points=(0.0, -1.0, float("nan"))),
    Entry("clamp tensors", lambda t, x, y: t.clamp(x, y, y + 1), TWO, distinct=True),
    Entry("where", lambda t, x, y: t.where(x > 0.05, x, y * 2), TWO, distinct=True, kinds="fi"),
    Entry("where number", lambda t, x: t.where(x > 0, x, 0.0)),
    Entry("lerp", lambda t, x, y: t.lerp(x, y, 0.3), TWO),
    Entry("lerp tensor", lambda t, x, y, w: t.lerp(x, y, w), (((3, 4),) * 3, ((3, 1), (4,), ()))),
    Entry("addcmul", lambda t, x, y, z: t.addcmul(x, y, z, value=2), (((3, 4),) * 3, ((3, 1), (4,), ()))),
    Entry("addcdiv", lambda t, x, y, z: t.addcdiv(x, y, z, value=2), (((3, 4),) * 3,), low=0.4),
    Entry("real", lambda t, x: t.real(x), kinds="c"),
    Entry("imag", lambda t, x: t.imag(x), kinds="c"),
    Entry("conj", lambda t, x: t.conj(x) * 2, kinds="fc"),
    Entry("angle", lambda t, x: t.angle(x), kinds="fc", low=0.2, points=(0.0, -1.0)),
    Entry("nan_to_num", lambda t, x: t.nan_to_num(x), points=INFINITE),
]

MANY: tuple[Shapes, ...] = (((3, 4),), ((2, 3, 4),))
REDUCTIONS = [
    *unary("sum prod", kinds="fc", points=(0.0, float("nan"))),
    *unary("mean", kinds="fc", shapes=(((3, 4),), ((),))),
    *unary("max min amax amin", shapes=(((3, 4),), ((),)), distinct=True, points=(1.0, float("nan"))),
    *unary("var std norm", shapes=MANY, points=(0.0, 1.0)),
    Entry("logsumexp", lambda t, x: t.logsumexp(x, 0), MANY, points=INFINITE),
    *unary("any all count_nonzero", kinds="fib", points=(0.0,)),
    *unary("argmax argmin", shapes=(((3, 4),), ((),)), distinct=True, kinds="fi"),
    *(Entry(f"{name} dim", lambda t, x, name=name: getattr(t, name)(x, -1), MANY, distinct=True,
            points=(0.0, float("nan"))) for name in "sum mean prod amax amin var std cumsum cumprod".split()),
    *(Entry(f"{name} keepdim", lambda t, x, name=name: getattr(t, name)(x, dim=(0, 1), keepdim=True), MANY)
      for name in "sum mean amax var std logsumexp".split()),
    *(Entry(f"{name} dim", lambda t, x, name=name: tuple(getattr(t, name)(x, 1)), MANY, distinct=True)
      for name in "max min median cummax cummin".split()),
    Entry("median", lambda t, x: t.median(x), distinct=True, shapes=MANY),
    Entry("nansum", lambda t, x: t.nansum(x), points=(float("nan"),)),
    Entry("var correction", lambda t, x: t.var(x, 1, correction=0), MANY),
    Entry("std_mean", lambda t, x: tuple(t.std_mean(x, 1)), MANY),
    Entry("sum dtype", lambda t, x: t.sum(x, dtype=t.float64), kinds="fib"),
    *(Entry(f"norm {p}", lambda t, x, p=p: t.norm(x, p, dim=1), MANY, low=0.2, points=(0.0,))
      for p in (1, 2, 3, float("inf"))),
    *(Entry(name, lambda t, x, name=name: getattr(t, name)(x, 1), MANY, points=(0.0, float("inf")))
      for name in ("softmax", "log_softmax")),
    Entry("sort", lambda t, x: tuple(t.sort(x, 1, descending=True)), MANY, distinct=True, kinds="fi"),
    Entry("argsort", lambda t, x: t.argsort(x, 0), MANY, distinct=True),
    Entry("topk", lambda t, x: tuple(t.topk(x, 2)), MANY, distinct=True),
    Entry("kthvalue", lambda t, x: tuple(t.kthvalue(x, 2)), MANY, distinct=True),
    Entry("trace", lambda t, x: t.trace(x), (((3, 4),),)),
]

MATRIX = [
    Entry("mm", _named("mm"), (((2, 3), (3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 2))), kinds="fci"),
    Entry("bmm", _named("bmm"), (((2, 2, 3), (2, 3, 4)),), kinds="fci"),
    Entry("mv", _named("mv"), (((2, 3), (3,)),), kinds="fc"),
    Entry("dot", _named("dot"), (((3,), (3,)),), kinds="fc"),
    Entry("matmul", _named("matmul"), (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)),
                                       ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 1, 2, 3), (4, 3, 2))), kinds="fc"),
    Entry("outer", _named("outer"), (((3,), (4,)),), kinds="fc"),
    Entry("addmm", lambda t, b, x, y: t.addmm(b, x, y, beta=0.5, alpha=2), (((4,), (2, 3), (3, 4)), ((2, 4), (2, 3), (3, 4)))),
    Entry("baddbmm", _named("baddbmm"), (((2, 2, 4), (2, 2, 3), (2, 3, 4)),)),
    Entry("einsum ij,jk", lambda t, x, y: t.einsum("ij,jk->ik", x, y), (((2, 3), (3, 4)),), kinds="fc"),
    Entry("einsum batch", lambda t, x, y: t.einsum("bij,bjk->bik", x, y), (((2, 2, 3), (2, 3, 4)),)),
    Entry("einsum trace", lambda t, x: t.einsum("ii", x), (((3, 3),),)),
    Entry("einsum ellipsis", lambda t, x, y: t.einsum("...i,...i->...", x, y), (((2, 3), (2, 3)),)),
    Entry("tensordot", lambda t, x, y: t.tensordot(x, y, 1), (((2, 3), (3, 4)),)),
]

SHAPES = [
    Entry("reshape", lambda t, x: x.reshape(-1), MANY, kinds="fci"),
    Entry("reshape copy", lambda t, x: x.transpose(0, 1).reshape(-1), MANY),
    Entry("view", lambda t, x: x.contiguous().view(4, -1), (((3, 4),),), kinds="fc"),
    Entry("transpose", lambda t, x: x.transpose(0, 1), MANY, kinds="fc"),
    Entry("t", lambda t, x: x.t(), (((3, 4),),)),
    Entry("permute", lambda t, x: x.permute(2, 0, 1), (((2, 3, 4),),)),
    Entry("squeeze", lambda t, x: x.squeeze(), (((2, 1, 3),), ((1, 1),))),
    Entry("squeeze dim", lambda t, x: x.squeeze(1), (((2, 1, 3),),)),
    Entry("unsqueeze", lambda t, x: x.unsqueeze(-1)),
    Entry("expand", lambda t, x: x.expand(2, 3, 4), (((3, 1),), ((3, 4),), ((1, 1, 1),))),
    Entry("flatten", lambda t, x: x.flatten(1), MANY),
    Entry("diagonal", lambda t, x: x.diagonal(1), (((3, 4),),)),
    Entry("narrow", lambda t, x: x.narrow(1, 1, 2), MANY),
    Entry("select", lambda t, x: x.select(1, 2), MANY),
    Entry("split", lambda t, x: x.split(2, 1), MANY),
    Entry("chunk", lambda t, x: x.chunk(2, 0), MANY),
    Entry("unbind", lambda t, x: x.unbind(1), MANY),
    Entry("cat", lambda t, x, y: t.cat([x, y], 1), (((2, 3), (2, 1)),), kinds="fci"),
    Entry("stack", lambda t, x, y: t.stack([x, y], -1), (((2, 3), (2, 3)),)),
    Entry("clone", lambda t, x: x.clone(), kinds="fcib"),
    Entry("contiguous", lambda t, x: x.transpose(0, 1).contiguous(), MANY),
    Entry("repeat", lambda t, x: x.repeat(2, 1, 3), (((3, 4),),)),
    Entry("flip", lambda t, x: x.flip(0), MANY),
    Entry("roll", lambda t, x: x.roll(1, 1), MANY),
    Entry("tril", lambda t, x: x.tril(), (((3, 4),),)),
    Entry("triu", lambda t, x: x.triu(1), (((3, 4),),)),
    Entry("movedim", lambda t, x: x.movedim(0, -1), MANY),
    Entry("to", lambda t, x: x.to(t.float32), kinds="fib"),
]

INDEXING = [
    Entry("x[0]", lambda t, x: x[0], MANY),
    Entry("x[1:, ::2]", lambda t, x: x[1:, ::2], MANY),
    Entry("x[None, ..., 1]", lambda t, x: x[None, ..., 1], MANY),
    Entry("x[[0, 0, 2]]", lambda t, x: x[[0, 0, 2]], (((3, 4),),)),
    Entry("x[:, tensor]", lambda t, x: x[:, t.tensor([1, 1, 0])], MANY),
    Entry("x[tensor, tensor]", lambda t, x: x[t.tensor([0, 1]), t.tensor([2, 2])], MANY),
    Entry("x[mask]", lambda t, x: x[x > 0], MANY),
    Entry("index_select", lambda t, x: x.index_select(0, t.tensor([1, 0, 1])), MANY),
    Entry("gather", lambda t, x: x.gather(1, t.tensor([[0, 1], [1, 1], [2, 0]])), (((3, 4),),)),
    Entry("scatter", lambda t, x, y: x.scatter(1, t.tensor([[0, 1], [1, 2]]), y), (((3, 4), (2, 2)),)),
    Entry("scatter number", lambda t, x: x.scatter(1, t.tensor([[0, 1], [1, 2]]), 3.0), (((3, 4),),)),
    Entry("scatter_add", lambda t, x, y: x.scatter_add(1, t.tensor([[0, 0], [1, 2]]), y), (((3, 4), (2, 2)),)),
    Entry("index_add", lambda t, x, y: x.index_add(0, t.tensor([0, 0]), y), (((3, 4), (2, 4)),)),
    Entry("masked_fill", lambda t, x: x.masked_fill(x > 0, 2.0), MANY),
    Entry("masked_select", lambda t, x: x.masked_select(x > 0), MANY),
    Entry("take", lambda t, x: x.take(t.tensor([0, 5, 5])), (((3, 4),),)),
    Entry("take_along_dim", lambda t, x: t.take_along_dim(x, t.tensor([[0], [1], [0]]), 1), (((3, 4),),)),
]

TABLE = [*POINTWISE, *REDUCTIONS, *MATRIX, *SHAPES, *INDEXING]
