"""Entries for norms of matrices, distances, powers and exponentials of matrices, contractions, covariances."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes, named

_SQUARE: tuple[Shapes, ...] = (((3, 3),), ((2, 3, 3),))
_PAIRS: tuple[Shapes, ...] = (((3, 4), (2, 4)), ((2, 3, 4), (5, 4)),
                              ((0, 4), (2, 4)), ((3, 4), (0, 4)), ((3, 0), (2, 0)))
_NO_SECOND = "PyTorch has no derivative of the gradient of these distances"
_FILLED = dict.fromkeys("fc", "PyTorch writes over the inverse that its derivative needs, and refuses it")
_NO_FORWARD = "PyTorch has no forward mode of distances"
_HALF_PAIRS = {"h": "PyTorch takes halves where there are no pairs, and has no gradient of that"}
_HALF_EXP = {"h": "PyTorch's has infinities and nan of halves"}


def linalg(name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
    """`torch.linalg.name(...)` of the inputs."""
    return lambda torch, *inputs: getattr(torch.linalg, name)(*inputs, *arguments, **options)


_NORMS = [
    *(Entry(f"vector_norm {p}", linalg("vector_norm", p), (((3, 4),), ((),)), low=0.2, kinds="fc", distinct=True,
            points=(0.0, 1.0))
      for p in (0, 0.5, 1, 1.5, 2, 3, math.inf, -math.inf, -1)),
    *(Entry(f"vector_norm {p} dim", linalg("vector_norm", p, -1, True, dtype=None), (((3, 4),), ((2, 0, 3),)),
            low=0.2, kinds="fc", distinct=True) for p in (1, 2, 3.5, math.inf)),
    *(Entry(f"matrix_norm {ord}", linalg("matrix_norm", ord), (((3, 4),), ((2, 3, 3),)), low=0.2, kinds="fc",
            points=(0.0, 1.0)) for ord in ("fro", 1, -1, math.inf, -math.inf)),
    *(Entry(f"matrix_norm {ord} dims", linalg("matrix_norm", ord, (2, 0), True, dtype=None),
            (((2, 3, 4),),), low=0.2, kinds="fc") for ord in ("fro", 1, math.inf)),
    Entry("linalg norm", linalg("norm"), (((3, 4),), ((2, 3, 3),)), kinds="fc", points=(0.0,)),
    Entry("linalg norm 1", linalg("norm", 1), (((3, 4),), ((5,),)), low=0.2, kinds="f", distinct=True),
    Entry("linalg norm dims", linalg("norm", "fro", (-2, -1), True, dtype=None), (((3, 4),),), low=0.2, kinds="fc"),
    Entry("frobenius_norm", lambda t, x: t.frobenius_norm(x, (0, 1), True), (((3, 4),),), kinds="fc"),
]

# Of singular values that tie, PyTorch and this differ by how LAPACK orders them: the matrices here have none.
_SPECTRAL = [
    *(Entry(f"matrix_norm {ord}", linalg("matrix_norm", ord), (((3, 4),), ((2, 3, 3),)), kinds="fc")
      for ord in ("nuc", 2, -2)),
    *(Entry(f"matrix_norm {ord} dims", linalg("matrix_norm", ord, (2, 0), True), (((2, 3, 4),),), kinds="fc")
      for ord in ("nuc", 2)),
    Entry("nuclear_norm", named("nuclear_norm"), (((3, 4),),), kinds="fc"),
    Entry("norm nuc", lambda t, x: t.norm(x, "nuc"), (((3, 4),),), kinds="fc"),
    *(Entry(f"cond {p}", linalg("cond", p), (((3, 3),), ((2, 3, 3),)), kinds="fc") for p in (None, -2, "nuc")),
    *(Entry(f"cond {p}", linalg("cond", p), (((3, 3),), ((2, 3, 3),)), kinds="fc", apart=_FILLED)
      for p in (1, -1, math.inf, -math.inf, "fro")),
    *(Entry(f"matrix_power {n}", lambda t, x, n=n: t.matrix_power(x, n), (((3, 3),),), kinds="fc") for n in (-1, -3)),
    Entry("matrix_rank", linalg("matrix_rank"), (((3, 4),), ((2, 3, 3),)), kinds="fc"),
    Entry("matrix_rank tolerances", linalg("matrix_rank", atol=0.1, rtol=0.1), (((3, 4),),), kinds="fc"),
    Entry("matrix_rank tol", linalg("matrix_rank", tol=0.1, hermitian=False), (((3, 4),),), kinds="fc"),
    Entry("tensorinv", linalg("tensorinv", 1), (((4, 2, 2),), ((3, 3),)), kinds="fc"),
    Entry("tensorsolve", linalg("tensorsolve"), (((2, 3, 6), (2, 3)),), kinds="fc"),
    Entry("tensorsolve dims", linalg("tensorsolve", dims=(0,)), (((6, 2, 3), (2, 3)),), kinds="fc"),
]

_DISTANCES = [
    Entry("cross", lambda t, x, y: t.cross(x, y, 0), (((3, 4), (3, 4)), ((3, 1), (3, 2))), kinds="fci"),
    Entry("linalg cross", linalg("cross", dim=-1), (((2, 3), (2, 3)), ((3,), (3,)), ((0, 3), (1, 3))), kinds="fci"),
    *(Entry(f"cdist {p}", lambda t, x, y, p=p: t.cdist(x, y, p), _PAIRS, first_only=_NO_SECOND,
            no_tangent=_NO_FORWARD, points=(0.0, 1.0))
      for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)),
    Entry("cdist product", lambda t, x, y: t.cdist(x, y, 2, "use_mm_for_euclid_dist"), _PAIRS[:2],
          no_tangent=_NO_FORWARD),
    Entry("cdist product at 0", lambda t, x, y: t.cdist(x, y, 2, "use_mm_for_euclid_dist"), _PAIRS[:2],
          points=(0.0, 1.0), no_tangent=_NO_FORWARD,
          first_only="PyTorch divides by a distance of 0"),
    *(Entry(f"pdist {p}", lambda t, x, p=p: t.nn.functional.pdist(x, p), (((4, 3),), ((1, 3),), ((3, 0),)),
            first_only=_NO_SECOND, no_tangent=_NO_FORWARD, apart=_HALF_PAIRS, points=(0.0,))
      for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)),
]

_POWERS = [
    *(Entry(f"matrix_power {n}", lambda t, x, n=n: t.matrix_power(x, n), _SQUARE, kinds="fci")
      for n in (0, 1, 2, 3, 4, 5, 7)),
    Entry("matrix_exp", named("matrix_exp"), (*_SQUARE, ((1, 1),), ((2, 0, 0),)), kinds="fc", apart=_HALF_EXP),
    Entry("matrix_exp large", named("matrix_exp"), _SQUARE, low=-9.0, high=-7.0, apart=_HALF_EXP),
    Entry("matrix_exp small", named("matrix_exp"), _SQUARE, low=-0.001, high=0.001, apart=_HALF_EXP),
    Entry("vecdot", linalg("vecdot"), (((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())), kinds="fc"),
    Entry("vecdot dim", linalg("vecdot", dim=0), (((2, 3), (2, 1)),), kinds="fc"),
    Entry("linalg vander", linalg("vander", N=4), (((3,),), ((2, 3),)), kinds="fci"),
    Entry("multi_dot", lambda t, *x: t.linalg.multi_dot(x),
          (((3, 4), (4, 2), (2, 5)), ((4,), (4, 2), (2,)), ((2, 3), (3, 4), (4,))), kinds="fc"),
    Entry("multi_dot of equal costs", lambda t, *x: t.linalg.multi_dot(x),
          (((2, 2),) * 3, ((2, 2),) * 4, ((2, 3), (3, 2), (2, 3))), kinds="fc"),
    Entry("cov", named("cov"), (((3, 4),), ((5,),), ((1, 5),)), kinds="fc"),
    Entry("cov by weights", lambda t, x, w: t.cov(x, aweights=w), (((3, 4), (4,)),), low=0.5, kinds="f"),
    Entry("cov by weights of all", lambda t, x, w: t.cov(x, correction=0, aweights=w), (((3, 4), (4,)),), low=0.5,
          kinds="f"),
    Entry("cov weights", lambda t, x: t.cov(x, correction=2, fweights=t.tensor([1, 2, 1, 3]), aweights=t.tensor(
        [0.5, 1., 0.25, 2.], dtype=t.float64)), (((3, 4),),), kinds="fc"),
    Entry("corrcoef", named("corrcoef"), (((3, 4),),), kinds="fc"),
]

_EQUATIONS: list[tuple[str, tuple[Shapes, ...]]] = [
    ("ij->ji", (((2, 3),),)), ("ij->", (((2, 3),),)), ("ij->j", (((2, 3),),)), ("ii->i", (((3, 3),),)),
    ("iij->j", (((3, 3, 2),),)), ("...ii->...i", (((2, 3, 3),),)), ("i,j->ij", (((2,), (3,)),)),
    ("ij,ij->ij", (((2, 3), (2, 3)),)), ("ij,ij", (((2, 3), (2, 3)),)), ("ij,kj->ik", (((2, 3), (4, 3)),)),
    ("bij,bjk->bik", (((2, 3, 4), (2, 4, 5)), ((1, 3, 4), (2, 4, 5)))), ("b...,b...->...", (((2, 3, 4), (2, 1, 4)),)),
    ("...ij,...jk->...ik", (((2, 3, 4), (4, 5)), ((3, 1, 2, 3), (2, 3, 2)))),
    ("ijk,jkl,li->ik", (((2, 3, 4), (3, 4, 5), (5, 2)),)), ("i,i,i->i", (((3,), (3,), (3,)),)),
    ("ab,bc,cd,de->ae", (((2, 3), (3, 2), (2, 4), (4, 2)),)), ("ij,jk", (((2, 3), (3, 4)),)),
    ("ba,ca->bc", (((2, 3), (1, 3)),)), ("ij,jj->i", (((2, 3), (3, 3)),)), ("i,->i", (((3,), ()),)),
]
_EINSUM = [Entry(f"einsum {equation}", lambda t, *x, e=equation: t.einsum(e, *x), shapes, kinds="fci")
           for equation, shapes in _EQUATIONS]
_EINSUM += [
    Entry("einsum lists", lambda t, x, y: t.einsum(x, [0, 1], y, [1, 2], [0, 2]), (((2, 3), (3, 4)),), kinds="fc"),
    Entry("einsum lists ellipsis", lambda t, x, y: t.einsum(x, [..., 0], y, [..., 0], [...]), (((2, 3), (2, 3)),),
          kinds="fc"),
    Entry("einsum lists implicit", lambda t, x, y: t.einsum(x, [1, 0], y, [0, 2]), (((2, 3), (3, 4)),), kinds="fc"),
    Entry("tensordot lists", lambda t, x, y: t.tensordot(x, y, ([1, 0], [0, 2])), (((2, 3, 2), (3, 4, 2)),),
          kinds="fci"),
    Entry("tensordot of all", lambda t, x, y: t.tensordot(x, y, ([1, 0], [1, 0])), (((2, 3), (2, 3)),), kinds="fci"),
    Entry("tensordot crosswise", lambda t, x, y: t.tensordot(x, y, ([0, 1], [1, 0])), (((2, 3), (3, 2)),), kinds="fci"),
    Entry("tensordot of transposed", lambda t, x, y: t.tensordot(x.t(), y.t(), ([1, 0], [1, 0])), (((2, 3), (2, 3)),),
          kinds="fci"),
    Entry("tensordot 0", lambda t, x, y: t.tensordot(x, y, 0), (((2, 3), (3,)),), kinds="fc"),
    Entry("inner", named("inner"), (((2, 3), (4, 3)), ((3,), (3,)), ((), (2, 3))), kinds="fci"),
    Entry("chain_matmul", named("chain_matmul"), (((2, 3), (3, 4), (4, 1)),), kinds="fc"),
]

PRODUCTS = [*_NORMS, *_SPECTRAL, *_DISTANCES, *_POWERS, *_EINSUM]
