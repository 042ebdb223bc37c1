"""Entries for names that are made of other operators, or are another name of one: shapes, places, sums, activations."""

from __future__ import annotations

from typing import Any

from op_table.entry import INFINITE, MANY, MATRICES, ONE, TWO, Entry, Shapes, functional

_TWO_MATRICES: tuple[Shapes, ...] = (((2, 3), (2, 3)), ((0, 3), (2, 3)))
_ROWS: tuple[Shapes, ...] = (((4, 2),), ((2, 4, 2),))
_CUBES: tuple[Shapes, ...] = (((2, 3, 4),), ((1, 0, 2),))


def _called(names: str, *arguments: Any, shapes: tuple[Shapes, ...] = ONE, **options: Any) -> list[Entry]:
    """For each name `torch.name(x, …)`."""
    said = f" {arguments}" if arguments else ""

    def entry(name: str) -> Entry:
        return Entry(name + said, lambda t, *inputs: getattr(t, name)(*inputs, *arguments), shapes, **options)

    return [entry(name) for name in names.split()]


def _joined(names: str, shapes: tuple[Shapes, ...]) -> list[Entry]:
    """For each name `torch.name((x, y))`."""
    return [Entry(name, lambda t, x, y, name=name: getattr(t, name)((x, y)), shapes, kinds="fci")
            for name in names.split()]


def _special(names: str, shapes: tuple[Shapes, ...] = ONE, **options: Any) -> list[Entry]:
    return [Entry(f"special.{name}", lambda t, *inputs, name=name: getattr(t.special, name)(*inputs), shapes, **options)
            for name in names.split()]


COMPOSED = [
    *_called("atleast_1d atleast_2d atleast_3d ravel", kinds="fci"),
    *_called("fliplr", shapes=MANY, kinds="fci"), *_called("flipud", shapes=MANY, kinds="fci"),
    *_called("swapaxes", 0, -1, shapes=MANY, kinds="fci"),
    *_called("broadcast_to", (2, 3, 4), shapes=(((3, 4),), ((1, 4),), ((),)), kinds="fci"),
    *_called("broadcast_tensors", shapes=(((3, 1), (4,)), ((), (0,))), kinds="fci"),
    Entry("meshgrid", lambda t, x, y: t.meshgrid(x, y, indexing="ij"), (((3,), (2,)), ((), (2,))), kinds="fci"),
    Entry("meshgrid xy", lambda t, x, y: t.meshgrid(x, y, indexing="xy"), (((3,), (2,)),), kinds="f"),
    *_joined("hstack vstack dstack", (*_TWO_MATRICES[:1], ((3,), (3,)), ((), ()))),
    *_joined("column_stack", (((3, 2), (3,)), ((2,), (2,)), ((), ()))),
    *_called("split", 2, shapes=_ROWS, kinds="fci"),
    *_called("hsplit", 2, shapes=_ROWS[1:], kinds="fci"), *_called("vsplit", 2, shapes=_ROWS, kinds="fci"),
    *_called("dsplit", 2, shapes=_CUBES, kinds="fci"), *_called("tensor_split", 3, shapes=MANY, kinds="fci"),
    *_called("tensor_split", (1, 2), 1, shapes=MANY, kinds="fci"),
    *_called("tile", (2, 1, 2), shapes=MANY, kinds="fci"),
    *_called("unflatten", 1, (2, -1), shapes=MATRICES, kinds="fci"),
    *_called("nonzero argwhere", kinds="fcib"),
    *_called("msort", shapes=MANY, distinct=True, kinds="fi"),
    *_called("bincount", shapes=(((6,),), ((0,),)), kinds="i", low=0.0),
    Entry("bincount weights", lambda t, x, y: t.bincount(x, y, 3), (((6,), (6,)),), kinds="i", low=0.0),
    Entry("indices_taken", lambda t, x: (x[..., 1], x[None, 1:, ::2], x[[0, 2, 0]], x[:, t.tensor([1, 0, 1])],
                                         x[t.tensor([True, False, True])]), MATRICES, kinds="fci"),
    Entry("indices_put", lambda t, x, y: _put(x.clone(), y), (((3, 4), (4,)),), kinds="fci"),
]


def _put(x: Any, y: Any) -> Any:
    x[1] = y
    x[:, ::2] = 0
    x[[0, 2], 1] = y[:2]
    return x


ALIASES = [
    Entry("F.softmax", functional("softmax", -1), MANY, points=INFINITE),
    Entry("F.softmin", functional("softmin", 0), MANY),
    Entry("F.log_softmax", functional("log_softmax", -1), MANY, points=INFINITE),
    Entry("F.normalize", functional("normalize", 2.0, -1), MANY, low=0.2, kinds="fc"),
    Entry("F.linear", functional("linear"), (((2, 3), (4, 3), (4,)), ((3,), (4, 3), (4,)), ((0, 3), (2, 3), (2,)))),
    Entry("F.one_hot", lambda t, x: t.nn.functional.one_hot(x, 8), kinds="i", low=0.0),
    *_special("digamma psi gammaln", low=0.3, high=3.0, kinds="fi", points=(1.0, 2.0)),
    *_special("erf erfc expm1 exp2 expit", kinds="fi", points=(0.0, *INFINITE)),
    *_special("i0", points=(0.0, 1.0), apart={"h": "PyTorch has no derivative of it in half precision"}),
    *_special("erfinv", low=-0.8, high=0.8, points=(0.0, 1.0, -1.0, 2.0)),
    *_special("log1p", low=0.2, points=(0.0, -1.0)), *_special("sinc", low=0.1, points=(1.0, 2.0)),
    *_called("fix", low=0.1, high=0.4, points=(0.0, *INFINITE)),
    *_called("true_divide", shapes=TWO, low=0.3, kinds="fci"),
    *_called("clip", -1, 1, low=-0.9, high=0.9, kinds="fi", points=(-1.0, 1.0, *INFINITE)),
    Entry("linalg.matrix_exp", lambda t, x: t.linalg.matrix_exp(x), (((3, 3),),), kinds="fc",
          apart={"h": "PyTorch's has infinities and nan of halves"}),
    Entry("linalg.matrix_power", lambda t, x: t.linalg.matrix_power(x, 3), (((3, 3),),), kinds="fci"),
    *_special("xlogy", TWO, low=0.3),
    Entry("special.logit", lambda t, x: t.special.logit(x, 0.15), low=0.2, high=0.8),
    Entry("special.logsumexp", lambda t, x: t.special.logsumexp(x, 1, True), MANY, points=INFINITE),
    Entry("special.multigammaln", lambda t, x: t.special.multigammaln(x, 2), low=1.2, high=4.0),
    Entry("special.polygamma", lambda t, x: t.special.polygamma(2, x), low=0.3, high=12.0),
    Entry("special.round", lambda t, x: t.special.round(x, decimals=2), low=0.101, high=0.1049, points=(0.0, 0.125)),
    Entry("special.softmax", lambda t, x: t.special.softmax(x, -1, dtype=t.float64), MANY),
    Entry("special.log_softmax", lambda t, x: t.special.log_softmax(x, -1, dtype=t.float64), MANY),
]

OVER_THEMSELVES = [
    Entry("addbmm_", lambda t, x, y, z: x.clone().addbmm_(y, z), (((3, 2), (4, 3, 5), (4, 5, 2)),), kinds="fci"),
    Entry("baddbmm_", lambda t, x, y, z: x.clone().baddbmm_(y, z, beta=2), (((4, 3, 2), (4, 3, 5), (4, 5, 2)),)),
    Entry("addr_", lambda t, x, y, z: x.clone().addr_(y, z, alpha=2), (((3, 2), (3,), (2,)),), kinds="fci"),
    Entry("addmm_", lambda t, x, y, z: x.clone().addmm_(y, z), (((3, 2), (3, 5), (5, 2)),), kinds="fci"),
    Entry("addmv_", lambda t, x, y, z: x.clone().addmv_(y, z), (((3,), (3, 5), (5,)),), kinds="fci"),
    Entry("cumsum_", lambda t, x: x.clone().cumsum_(1), MATRICES, kinds="fci"),
    Entry("cumprod_", lambda t, x: x.clone().cumprod_(1), MATRICES, kinds="fci"),
    Entry("swapaxes_", lambda t, x: x.clone().swapaxes_(0, 1) * 2, MATRICES, kinds="fci"),
    *(Entry(f"{name}_", lambda t, x, y, name=name: getattr(x.clone(), f"{name}_")(y), TWO[:1], kinds="ib")
      for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(Entry(f"{name}_", lambda t, x, y, name=name: getattr(x.clone(), f"{name}_")(y), TWO[:1], kinds="i", low=0.0)
      for name in ("bitwise_left_shift", "bitwise_right_shift")),
    Entry("logical_not_", lambda t, x: x.clone().logical_not_(), kinds="fib",
          conventional="PyTorch does not record the write, so that the gradient of what was there remains",
          wrong_tangent="PyTorch does not see the write, so that the tangent of what was there remains"),
    Entry("igammac_", lambda t, a, x: a.detach().clone().igammac_(x.detach()), TWO[:1], low=0.3, high=4.0),
    *(Entry(f"F.adaptive_max_pool{n}d_with_indices", lambda t, x, n=n: getattr(
        t.nn.functional, f"adaptive_max_pool{n}d_with_indices")(x, 2), (((2, 3) + (4,) * n,),), distinct=True)
      for n in (1, 2, 3)),
    Entry("bitwise_not_", lambda t, x: x.clone().bitwise_not_(), kinds="ib"),
    *(Entry(f"F.{name}_", lambda t, x, name=name: getattr(t.nn.functional, f"{name}_")(x.clone()), low=0.1,
            points=(0.0, -1.0)) for name in ("elu", "hardtanh", "leaky_relu")),
]
