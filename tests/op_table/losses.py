"""Entries for losses, with each reduction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes, functional

_PAIRS: tuple[Shapes, ...] = (((3, 4), (3, 4)), ((), ()))
_NONE: tuple[Shapes, ...] = (((0, 3), (0, 3)),)         # whose mean is nan
_CLASSES: tuple[Shapes, ...] = (((4, 3),),)
_IMAGES: tuple[Shapes, ...] = (((2, 3, 2, 2),),)


def _reduced(name: str, call: Callable[..., Any], shapes: tuple[Shapes, ...], **options: Any) -> list[Entry]:
    """An entry for each reduction; the call takes it as its last argument."""
    return [Entry(f"{name} {reduction}", lambda t, *inputs, r=reduction: call(t.nn.functional, t, *inputs, r), shapes,
                  **options) for reduction in ("mean", "sum", "none")]


def _pairwise(name: str, **options: Any) -> list[Entry]:
    """Of two tensors of one shape, which may be empty where the loss is not a mean."""
    return [Entry(f"{name} {reduction}", functional(name, reduction=reduction), shapes, **options)
            for reduction, shapes in (("mean", _PAIRS), ("sum", _PAIRS + _NONE), ("none", _PAIRS + _NONE))]


def _four_classes(t: Any) -> Any:
    return t.tensor([0, 2, 1, 2])


def _classes_of_images(t: Any) -> Any:
    return t.tensor([[[0, 1], [2, 2]], [[1, 1], [0, 2]]])


def _weights(t: Any, x: Any) -> Any:
    return t.tensor([0.5, 1.0, 2.0], dtype=x.dtype)


LOSSES = [
    *_pairwise("mse_loss", points=(0.0, 1.0)),
    *_pairwise("l1_loss", distinct=True, points=(0.0, 1.0)),
    *_pairwise("smooth_l1_loss", low=-0.4, high=0.4, points=(0.0, 1.0, 3.0)),
    *_pairwise("huber_loss", low=-0.4, high=0.4, points=(0.0, 1.0, 3.0)),
    *(Entry(f"kl_div {reduction}", functional("kl_div", reduction=reduction), _PAIRS[:1], low=0.1)
      for reduction in ("batchmean", "sum", "none")),
    *_pairwise("binary_cross_entropy", low=0.1, high=0.9, points=(0.5,)),
    Entry("binary_cross_entropy at 0", functional("binary_cross_entropy"), _PAIRS, low=0.1, high=0.9, points=(0.0, 1.0),
          first_only="PyTorch's constant 1e-12 is in single precision, but its second derivative has it in double"),
    *_pairwise("binary_cross_entropy_with_logits", points=(0.0, 1.0, float("inf"), float("-inf"))),
    Entry("smooth_l1_loss far", functional("smooth_l1_loss", beta=0.001), _PAIRS, distinct=True),
    Entry("huber_loss far", functional("huber_loss", delta=0.001), _PAIRS, distinct=True),
    Entry("binary_cross_entropy weight", lambda t, x, y: t.nn.functional.binary_cross_entropy(x, y, _weights(t, x)),
          (((2, 3), (2, 3)),), low=0.1, high=0.9),
    *(Entry(f"{name} weight", lambda t, x, y, name=name: getattr(t.nn.functional, name)(
        x, y, weight=_weights(t, x).expand(x.shape)), (((2, 3), (2, 3)),), distinct=True)
      for name in ("mse_loss", "l1_loss", "huber_loss", "binary_cross_entropy_with_logits")),
    Entry("binary_cross_entropy_with_logits pos_weight",
          lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y, pos_weight=_weights(t, x)),
          (((2, 3), (2, 3)),)),
    *_reduced("nll_loss", lambda F, t, x, r: F.nll_loss(x, _four_classes(t), reduction=r), _CLASSES),
    *_reduced("nll_loss weight", lambda F, t, x, r: F.nll_loss(x, _four_classes(t), _weights(t, x), reduction=r),
              _CLASSES),
    *_reduced("nll_loss ignore", lambda F, t, x, r: F.nll_loss(x, _four_classes(t), ignore_index=2, reduction=r),
              _CLASSES),
    *_reduced("nll_loss images", lambda F, t, x, r: F.nll_loss(x, _classes_of_images(t), reduction=r), _IMAGES),
    *_reduced("cross_entropy", lambda F, t, x, r: F.cross_entropy(x, _four_classes(t), reduction=r), _CLASSES),
    *_reduced("cross_entropy smoothed", lambda F, t, x, r: F.cross_entropy(
        x, _four_classes(t), _weights(t, x), label_smoothing=0.1, reduction=r), _CLASSES),
    *_reduced("cross_entropy chances", lambda F, t, x, y, r: F.cross_entropy(x, y, reduction=r), (((4, 3), (4, 3)),)),
    *_reduced("linear_cross_entropy", lambda F, t, x, w, r: F.linear_cross_entropy(x, w, _four_classes(t), reduction=r),
              (((4, 2), (3, 2)),)),
    Entry("linear_cross_entropy several", lambda t, x, w, b: t.nn.functional.linear_cross_entropy(
        x, w, t.tensor([[0, 2], [1, 0], [2, 2]]), linear_bias=b, label_smoothing=0.1), (((3, 2), (3, 2, 2), (3, 2)),)),
    Entry("linear_cross_entropy weight", lambda t, x, w: t.nn.functional.linear_cross_entropy(
        x, w, _four_classes(t), weight=_weights(t, x)), (((4, 2), (3, 2)),)),
    Entry("linear_cross_entropy one", lambda t, x, w: t.nn.functional.linear_cross_entropy(x, w, t.tensor(1)),
          (((2,), (3, 2)),)),
]
