"""Entries for normalization: over the last dims, groups of channels, the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes, functional

_ROWS: tuple[Shapes, ...] = (((3, 4), (4,), (4,)), ((2, 3, 4), (4,), (4,)), ((4,), (4,), (4,)), ((0, 4), (4,), (4,)))
_CHANNELS: tuple[Shapes, ...] = (((3, 4), (4,), (4,)), ((2, 4, 3), (4,), (4,)), ((2, 4, 2, 3), (4,), (4,)))
_SIGNALS: tuple[Shapes, ...] = (((2, 4, 3), (4,), (4,)), ((2, 4, 2, 3), (4,), (4,)), ((1, 4, 2, 1, 3), (4,), (4,)))


def _plain(shapes: tuple[Shapes, ...]) -> tuple[Shapes, ...]:
    """The same for the input alone."""
    return tuple([(first,) for first, *_ in shapes])


def _running(t: Any, x: Any) -> tuple[Any, Any]:
    """A running mean and a running variance for four channels."""
    dtype = x.dtype if x.is_floating_point() else t.float32
    return t.tensor([0.5, -0.25, 0.0, 1.0], dtype=dtype), t.tensor([0.5, 1.0, 2.0, 1.5], dtype=dtype)


def _batch(training: bool, **options: Any) -> Callable[..., Any]:
    """batch_norm, and what it makes of the running statistics."""

    def call(t: Any, x: Any, *parameters: Any) -> Any:
        running = _running(t, x)
        return t.nn.functional.batch_norm(x, *running, *parameters, training=training, **options), *running

    return call


def _instance(t: Any, x: Any, *parameters: Any) -> Any:
    running = _running(t, x)
    return t.nn.functional.instance_norm(x, *running, *parameters), *running


NORMALIZATION = [
    Entry("bilinear", functional("bilinear"), (
        ((3, 2), (3, 4), (5, 2, 4), (5,)), ((2, 3, 1), (2, 3, 2), (1, 1, 2), (1,)), ((2,), (3,), (4, 2, 3), (4,)),
        ((0, 2), (0, 3), (4, 2, 3), (4,)))),
    Entry("bilinear without bias", lambda t, *inputs: t.bilinear(*inputs), (((3, 2), (3, 4), (5, 2, 4)),)),
    Entry("layer_norm", lambda t, x: t.nn.functional.layer_norm(x, x.shape[-1:]), (*_plain(_ROWS), ((2, 0),))),
    Entry("layer_norm affine", lambda t, x, w, b: t.nn.functional.layer_norm(x, (4,), w, b), _ROWS),
    Entry("layer_norm weight", lambda t, x, w: t.nn.functional.layer_norm(x, w.shape, w, eps=0.01),
          (((2, 3, 4), (3, 4)), ((2, 2, 3), (2, 2, 3)))),
    Entry("layer_norm bias", lambda t, x, b: t.nn.functional.layer_norm(x, (4,), None, b), (((3, 4), (4,)),),
          first_only="PyTorch's second derivative fails for a bias without a weight"),
    Entry("native_layer_norm", lambda t, x, w, b: t.native_layer_norm(x, (4,), w, b, 1e-5), _ROWS[:2]),
    Entry("rms_norm", lambda t, x: t.nn.functional.rms_norm(x, x.shape[-1:]), _plain(_ROWS)),
    Entry("rms_norm weight", lambda t, x, w: t.nn.functional.rms_norm(x, w.shape, w, 0.01),
          (((2, 3, 4), (3, 4)), ((3, 4), (4,)))),
    Entry("group_norm", functional("group_norm", 2), (*_plain(_CHANNELS), ((0, 4, 2),), ((2, 4, 0),))),
    Entry("group_norm affine", lambda t, x, w, b: t.nn.functional.group_norm(x, 2, w, b), _CHANNELS),
    Entry("group_norm weight", lambda t, x, w: t.group_norm(x, 4, w, None, 0.01), (((2, 4, 3), (4,)),)),
    Entry("native_group_norm", lambda t, x, w, b: t.native_group_norm(x, w, b, 2, 4, 3, 2, 1e-5)[0],
          (((2, 4, 3), (4,), (4,)),)),
    Entry("batch_norm training", _batch(True), (*_plain(_CHANNELS), ((2, 4, 0),))),
    Entry("batch_norm training affine", _batch(True), (*_CHANNELS, ((0, 4, 2), (4,), (4,)))),
    Entry("batch_norm training momentum", _batch(True, momentum=0.5, eps=0.01), _CHANNELS[1:2]),
    Entry("batch_norm without running", lambda t, x, w: t.nn.functional.batch_norm(x, None, None, w, None, True),
          (((2, 4, 3), (4,)),)),
    Entry("batch_norm evaluating", _batch(False), _plain(_CHANNELS)),
    Entry("batch_norm evaluating affine", _batch(False), (*_CHANNELS, ((0, 4, 2), (4,), (4,)))),
    Entry("native_batch_norm", lambda t, x, w, b: t.native_batch_norm(x, w, b, *_running(t, x), True, 0.1, 1e-5),
          _CHANNELS[1:2]),
    Entry("instance_norm", functional("instance_norm"), _plain(_SIGNALS)),
    Entry("instance_norm affine", _instance, _SIGNALS),
    Entry("instance_norm running", lambda t, x: t.instance_norm(x, None, None, *_running(t, x), False, 0.1, 1e-5, True),
          _plain(_SIGNALS)),
]
