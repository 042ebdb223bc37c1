"""Entries for losses with margins, likelihoods, and distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import NO_SECOND, Entry, Shapes, functional, named

_PAIRS: tuple[Shapes, ...] = (((3, 4), (3, 4)), ((4,), (4,)))
_ROWS: tuple[Shapes, ...] = (((4, 3),),)
_THREE: tuple[Shapes, ...] = (((3, 4), (3, 4), (3, 4)), ((4,), (4,), (4,)))
_NONE: tuple[Shapes, ...] = (((0, 3), (0, 3)),)
_C_NAMES = dict.fromkeys("ib", "PyTorch's message has the name that C++ has for the type")

_FIRST = {"first_only": NO_SECOND, "no_tangent": NO_SECOND}


def _signs(t: Any, x: Any) -> Any:
    """Targets of 1 and -1, one for each element of x."""
    return t.where(t.arange(x.numel()) % 3 == 0, -1.0, 1.0).reshape(x.shape).to(x.dtype)


def _plainly(name: str, **options: Any) -> Callable[..., Any]:
    return lambda t, *inputs, **more: getattr(t.nn.functional, name)(*inputs, **options, **more)


def _with_signs(name: str) -> Callable[..., Any]:
    return lambda t, *inputs, **options: getattr(t.nn.functional, name)(*inputs, _signs(t, inputs[0]), **options)


def _reduced(name: str, call: Callable[..., Any], shapes: tuple[Shapes, ...], more: tuple[Shapes, ...] = (),
             **options: Any) -> list[Entry]:
    """An entry for each reduction. Those in `more` have no mean."""
    return [Entry(f"{name} {reduction}", lambda t, *inputs, r=reduction: call(t, *inputs, reduction=r),
                  shapes if reduction == "mean" else shapes + more, **options) for reduction in ("mean", "sum", "none")]


def _classes(t: Any) -> Any:
    return t.tensor([0, 2, 1, 2])


def _lists(t: Any) -> Any:
    return t.tensor([[1, -1, 0], [0, 2, -1], [2, 2, 1], [-1, 0, 1]])


def _weights(t: Any, x: Any) -> Any:
    return t.tensor([0.5, 1.0, 2.0], dtype=x.dtype)


def _counts(t: Any, x: Any) -> Any:
    return (t.arange(x.numel()) % 4).reshape(x.shape).to(x.dtype)


def _rows_signs(t: Any, x: Any) -> Any:
    return t.tensor([1, -1, -1]) if x.dim() == 2 else t.tensor(-1)


def _ctc(times: tuple[int, ...], lengths: tuple[int, ...], labels: Any, **options: Any) -> Callable[..., Any]:
    """The loss of scores of shape (T, N, C), or (T, C), of a log-softmax: without one its gradient is another."""
    return lambda t, x, **more: t.nn.functional.ctc_loss(
        x.log_softmax(-1), t.tensor(labels), t.tensor(times), t.tensor(lengths), **options, **more)


_SPEECH: tuple[Shapes, ...] = (((6, 2, 4),),)
MARGINS = [
    *_reduced("ctc_loss", _ctc((6, 4), (3, 2), [[1, 2, 2], [3, 1, 0]]), _SPEECH, **_FIRST),
    *_reduced("ctc_loss joined", _ctc((6, 5), (1, 3), [1, 0, 2, 0], blank=3), _SPEECH, **_FIRST),
    *_reduced("ctc_loss impossible", _ctc((6, 2), (3, 2), [[1, 2, 2], [3, 3, 0]], zero_infinity=True), _SPEECH,
              **_FIRST),
    *_reduced("ctc_loss of nothing", _ctc((6, 0), (0, 0), [[], []]), _SPEECH, **_FIRST),
    *_reduced("ctc_loss alone", _ctc((4,), (2,), [1, 2]), (((4, 3),),), **_FIRST),
    *_reduced("soft_margin_loss", _with_signs("soft_margin_loss"), (((3, 4),), ((),)), (((0, 3),),), points=(0.0, 5.0)),
    *_reduced("hinge_embedding_loss", _with_signs("hinge_embedding_loss"), (((3, 4),), ((),)), (((0, 3),),),
              low=-0.9, high=0.9, points=(1.0, 2.0)),
    Entry("hinge_embedding_loss far", lambda t, x: t.hinge_embedding_loss(x, _signs(t, x), 0.5), _ROWS, low=1.0),
    *_reduced("margin_ranking_loss", _with_signs("margin_ranking_loss"), (((3, 4), (3, 4)), ((), ())), _NONE,
              distinct=True),
    Entry("margin_ranking_loss margin", lambda t, x, y: t.margin_ranking_loss(x, y, _signs(t, x), 0.4), _PAIRS,
          distinct=True),
    *_reduced("cosine_embedding_loss", lambda t, x, y, **r: t.nn.functional.cosine_embedding_loss(
        x, y, _rows_signs(t, x), margin=-0.9, **r), _PAIRS, points=(1.0, 2.0)),
    *_reduced("triplet_margin_loss", _plainly("triplet_margin_loss", margin=4.0), _THREE),
    Entry("triplet_margin_loss swap", functional("triplet_margin_loss", 4.0, 3.0, swap=True), _THREE),
    *_reduced("triplet_margin_with_distance_loss", lambda t, x, y, z, **r: t.nn.functional.
              triplet_margin_with_distance_loss(x, y, z, distance_function=lambda a, b: ((a - b) ** 2).sum(-1),
                                                margin=30.0, swap=True, **r), _THREE),
    *_reduced("multi_margin_loss", lambda t, x, **r: t.nn.functional.multi_margin_loss(x, _classes(t), **r), _ROWS,
              **_FIRST),
    *_reduced("multi_margin_loss squares", lambda t, x, **r: t.nn.functional.multi_margin_loss(
        x, _classes(t), 2, 0.5, _weights(t, x), **r), _ROWS, **_FIRST),
    Entry("multi_margin_loss row", lambda t, x: t.nn.functional.multi_margin_loss(x, t.tensor([0])),
          (((3,),), ((),)), **_FIRST),
    *_reduced("multilabel_margin_loss", lambda t, x, **r: t.nn.functional.multilabel_margin_loss(x, _lists(t), **r),
              _ROWS, **_FIRST),
    Entry("multilabel_margin_loss row", lambda t, x: t.nn.functional.multilabel_margin_loss(x, t.tensor([2, 0, -1])),
          (((3,),),), **_FIRST),
    *_reduced("multilabel_soft_margin_loss", _plainly("multilabel_soft_margin_loss"), _PAIRS),
    Entry("multilabel_soft_margin_loss weight", lambda t, x, y: t.nn.functional.multilabel_soft_margin_loss(
        x, y, _weights(t, x)), (((4, 3), (4, 3)),)),
    *_reduced("poisson_nll_loss", lambda t, x, **r: t.nn.functional.poisson_nll_loss(x, _counts(t, x), **r),
              (((3, 4),), ((),)), (((0, 3),),)),
    *_reduced("poisson_nll_loss full", lambda t, x, **r: t.nn.functional.poisson_nll_loss(
        x, _counts(t, x), log_input=False, full=True, **r), (((3, 4),),), low=0.3),
    Entry("poisson_nll_loss target", lambda t, x, y: t.poisson_nll_loss(x, y, True, True, 1e-8, 2), _PAIRS, low=1.1),
    *_reduced("gaussian_nll_loss", _plainly("gaussian_nll_loss"), _THREE, low=0.3, apart=_C_NAMES),
    Entry("gaussian_nll_loss full", functional("gaussian_nll_loss", full=True),
          (((3, 4), (3, 4), (3,)), ((3, 4), (3, 4), (3, 1))), low=0.3, apart=_C_NAMES),
    Entry("gaussian_nll_loss number", lambda t, x, y: t.nn.functional.gaussian_nll_loss(x, y, 0.5), _PAIRS),
    Entry("cosine_similarity", named("cosine_similarity"), (((3, 4), (3, 4)), ((2, 3, 4), (3, 1)))),
    Entry("cosine_similarity -1", lambda t, x, y: t.cosine_similarity(x, y, dim=-1, eps=1e-3), _PAIRS),
    Entry("pairwise_distance", named("pairwise_distance"), (((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((), ())), kinds="f"),
    *(Entry(f"pairwise_distance {p}", lambda t, x, y, p=p: t.nn.functional.pairwise_distance(x, y, p, 1e-3, True),
            _PAIRS) for p in (1, 3.0, float("inf"))),
]
