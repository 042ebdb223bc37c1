"""Layers that normalize, resample and attend, against PyTorch: text, state, results, running statistics, errors."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare
from comparing.same_text import same

draws = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.asarray(draws.standard_normal(shape))


LAYERS: list[Any] = [
    lambda nn: nn.BatchNorm1d(4), lambda nn: nn.BatchNorm2d(4, 1e-3, None), lambda nn: nn.BatchNorm3d(4, affine=False),
    lambda nn: nn.BatchNorm1d(4, track_running_stats=False), lambda nn: nn.BatchNorm1d(4, bias=False),
    lambda nn: nn.InstanceNorm1d(4), lambda nn: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
    lambda nn: nn.InstanceNorm3d(4, momentum=0.5), lambda nn: nn.LayerNorm(4), lambda nn: nn.LayerNorm((3, 4), 0.1),
    lambda nn: nn.LayerNorm([4], bias=False), lambda nn: nn.LayerNorm(4, elementwise_affine=False),
    lambda nn: nn.GroupNorm(2, 4), lambda nn: nn.GroupNorm(2, 4, affine=False), lambda nn: nn.GroupNorm(3, 4),
    lambda nn: nn.GroupNorm(2, 4, bias=False),
    lambda nn: nn.RMSNorm(4), lambda nn: nn.RMSNorm((2, 4), 0.1), lambda nn: nn.RMSNorm(4, elementwise_affine=False),
    lambda nn: nn.LocalResponseNorm(2), lambda nn: nn.Upsample(4), lambda nn: nn.Upsample(scale_factor=(2, 3)),
    lambda nn: nn.Upsample(scale_factor=2, mode="bilinear"), lambda nn: nn.UpsamplingNearest2d((2, 3)),
    lambda nn: nn.UpsamplingBilinear2d(scale_factor=2), lambda nn: nn.MultiheadAttention(4, 2),
    lambda nn: nn.MultiheadAttention(4, 2, 0.1, False, True, True), lambda nn: nn.MultiheadAttention(4, 2, kdim=3),
    lambda nn: nn.MultiheadAttention(4, 3), lambda nn: nn.MultiheadAttention(0, 3),
]


@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_layers_print_and_begin_alike(number: int) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        layer = LAYERS[number](t.nn)
        options = {k: v for k, v in vars(layer).items() if k[0] != "_" and k not in ("training", "bias_k", "bias_v")}
        return layer, options, layer.state_dict(), getattr(layer.state_dict(), "_metadata", None)

    same(case)


RUN: list[tuple[Any, tuple[int, ...]]] = [
    (lambda nn: nn.BatchNorm1d(4), (3, 4)), (lambda nn: nn.BatchNorm1d(4, momentum=None), (3, 4, 2)),
    (lambda nn: nn.BatchNorm2d(4, affine=False), (2, 4, 3, 2)), (lambda nn: nn.BatchNorm3d(4), (2, 4, 1, 3, 2)),
    (lambda nn: nn.BatchNorm1d(4, track_running_stats=False), (3, 4)), (lambda nn: nn.BatchNorm2d(4), (3, 4)),
    (lambda nn: nn.BatchNorm1d(3), (3, 4)), (lambda nn: nn.BatchNorm1d(4), (1, 4)),
    (lambda nn: nn.InstanceNorm1d(4), (3, 4, 5)), (lambda nn: nn.InstanceNorm1d(4), (4, 5)),
    (lambda nn: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), (2, 4, 3, 2)),
    (lambda nn: nn.InstanceNorm2d(3, affine=True), (2, 4, 3, 2)), (lambda nn: nn.InstanceNorm3d(4), (4, 2)),
    (lambda nn: nn.InstanceNorm3d(4, track_running_stats=True), (4, 2, 3, 2)),
    (lambda nn: nn.LayerNorm((3, 4)), (2, 3, 4)), (lambda nn: nn.LayerNorm(4, bias=False), (2, 4)),
    (lambda nn: nn.GroupNorm(2, 4), (2, 4, 3)), (lambda nn: nn.RMSNorm(4), (2, 3, 4)),
    (lambda nn: nn.LocalResponseNorm(3), (2, 4, 3)),
    (lambda nn: nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 2, 3)),
    (lambda nn: nn.UpsamplingNearest2d(4), (1, 2, 2, 3)), (lambda nn: nn.UpsamplingBilinear2d((3, 4)), (1, 2, 2, 3)),
]


@pytest.mark.parametrize("number", range(len(RUN)))
def test_layers_compute_alike(number: int) -> None:
    """In training twice, which moves what is tracked, and then in evaluation."""
    make, shape = RUN[number]

    def case(t: Any, x: Any) -> Any:
        t.manual_seed(0)
        layer = make(t.nn).double()
        return layer(x), layer(x * 2), layer.eval()(x), *layer.state_dict().values()

    compare(case, normal(*shape))


ATTENTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}), ({"batch_first": True}, {}), ({"bias": False}, {"average_attn_weights": False}),
    ({"add_bias_kv": True}, {}), ({"add_zero_attn": True, "add_bias_kv": True}, {"key_padding_mask": (3, 5)}),
    ({"kdim": 3, "vdim": 2}, {}), ({}, {"attn_mask": (2, 5)}), ({}, {"attn_mask": (6, 2, 5)}),
    ({}, {"attn_mask": (2, 5), "key_padding_mask": (3, 5)}), ({"dropout": 0.4}, {}), ({}, {"attn_mask": (3, 5)}),
    ({}, {"is_causal": True}), ({}, {"attn_mask": (2, 5), "is_causal": True}), ({}, {"key_padding_mask": (5,)}),
]


@pytest.mark.parametrize("number", range(len(ATTENTIONS)))
@pytest.mark.parametrize("weights", [True, False])
def test_attention_of_several_heads(number: int, weights: bool) -> None:
    made, called = ATTENTIONS[number]

    def case(t: Any, query: Any, key: Any, value: Any) -> Any:
        t.manual_seed(0)
        layer = t.nn.MultiheadAttention(4, 2, **made).double()
        options = {k: (t.arange(int(np.prod(v))).reshape(v) % 4 == 1) if isinstance(v, tuple) else v
                   for k, v in called.items()}
        if made.get("batch_first"):
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        found, seen = layer(query, key, value, need_weights=weights, **options)
        return found if seen is None else (found, seen)

    compare(case, normal(2, 3, 4), normal(5, 3, made.get("kdim", 4)), normal(5, 3, made.get("vdim", 4)), order=1)


def test_attention_to_itself() -> None:
    def case(t: Any, x: Any) -> Any:
        t.manual_seed(0)
        layer = t.nn.MultiheadAttention(4, 2).double()
        return *layer(x, x, x), *layer(x[:, 0], x[:, 0], x[:, 0]), *layer(x, x[:1], x[:1])

    compare(case, normal(3, 2, 4))


def test_a_state_from_before_batches_were_counted() -> None:
    def case(t: Any) -> Any:
        layer = t.nn.BatchNorm1d(2)
        layer(t.tensor([[1., 2.], [3., 4.]]))
        return layer.load_state_dict({"weight": t.zeros(2), "bias": t.ones(2), "running_mean": t.ones(2),
                                      "running_var": t.ones(2)}), layer.state_dict()

    same(case)


# Calls of functions that fail, each with the x of shape (2, 3, 4), b of (2, 3, 4, 5), g of (2, 6, 7, 2).
WRONG = """
F.layer_norm(x, 4)
F.layer_norm(x, (3,))
F.layer_norm(x, ())
F.layer_norm(x, (4,), x[0, :, 0])
F.layer_norm(x, (4,), None, x[0, :, 0])
F.layer_norm(x, (2, 2, 3, 4))
F.layer_norm(x, (4,), x[0, 0].float())
F.batch_norm(x[0, 0], None, None, None, None, True)
torch.native_group_norm(x, x[0, :, 0], None, 4, 3, 4, 1, 1e-5)
torch.native_group_norm(x, x[0, :, 0], None, 2, 3, 5, 1, 1e-5)
F.rms_norm(x, (3,))
F.rms_norm(x, (4,), x[0, :, 0])
F.group_norm(x, 2)
F.group_norm(x, 3, x[0, 0])
F.group_norm(x[0, 0], 3)
F.group_norm(x[:1, :, :1], 3)
F.batch_norm(x, None, None)
F.batch_norm(x, x[0, :, 0].detach(), None)
F.batch_norm(x, None, None, x[0, 0], training=True)
F.batch_norm(x, None, None, x[0, :, 0], x[0, 0], training=True)
F.batch_norm(x, x[0, :2, 0].detach(), None, training=True)
F.batch_norm(x[:1, :, :1], None, None, training=True)
F.batch_norm(x, x[0, :, 0], None, training=True)
F.batch_norm(x, None, None, training=True, momentum=None)
F.batch_norm(x, None, None, x[0, :, 0].float(), training=True)
F.batch_norm(x, x[0, :, 0].detach(), None, training=True)
F.batch_norm(x, None, x[0, :, 0].detach(), training=True)
F.instance_norm(x, momentum=None)
F.instance_norm(x, use_input_stats=False)
F.instance_norm(x[:, :, :1])
F.instance_norm(x[0])
F.local_response_norm(x[0], 2)
F.interpolate(b)
F.interpolate(b[0, 0], 3)
F.interpolate(b, 3, mode='linear')
F.interpolate(x, 3, mode='bilinear')
F.interpolate(b, 3, 2.)
F.interpolate(b, (3,))
F.interpolate(b, scale_factor=(2.,))
F.interpolate(b, 3, mode='zz')
F.interpolate(b, 3, mode='nearest', align_corners=True)
F.interpolate(b, 0)
F.interpolate(b, -1)
F.interpolate(b[:, :0], 3)
F.interpolate(b[:, :, :0], 3)
F.interpolate(b, 3, mode='nearest', antialias=True)
F.interpolate(b, 3, recompute_scale_factor=True)
F.interpolate(b, (3, 2.5))
F.interpolate(b, scale_factor=0.1)
F.interpolate(b, 3, mode='lanczos')
F.interpolate(b, 3, mode='lanczos', antialias=True, align_corners=True)
F.grid_sample(b, g[:1], align_corners=False)
F.grid_sample(b, g[..., :1], align_corners=False)
F.grid_sample(b, g.float(), align_corners=False)
F.grid_sample(x, g, align_corners=False)
F.grid_sample(b[None].transpose(0, 1), x.new_zeros(2, 1, 1, 1, 3), mode='bicubic', align_corners=False)
F.grid_sample(b, g, mode='zz', align_corners=False)
F.grid_sample(b, g, padding_mode='zz', align_corners=False)
F.grid_sample(b[:, :, :0], g, align_corners=False)
F.affine_grid(x[:, :2, :3], (1, 3, 4, 5), False)
F.affine_grid(x, (2, 3, 4, 5), False)
F.affine_grid(x[:, :2, :3], (2, 3, 4), False)
F.affine_grid(x[:, :2, :3], (2, 3, 4, 0), False)
F.affine_grid(x[:, :2, :3].int(), (2, 3, 4, 5), False)
F.scaled_dot_product_attention(x, x.float(), x)
F.scaled_dot_product_attention(x[0, 0], x, x)
F.scaled_dot_product_attention(x, x, x, x[0, :, :3].int())
F.scaled_dot_product_attention(x, x, x, dropout_p=2.)
F.scaled_dot_product_attention(b, b[:, :2], b[:, :2], enable_gqa=True)
F.scaled_dot_product_attention(x, x, x, x[0, :, :3], is_causal=True)
F.bilinear(x, x[:1], x.new_ones(5, 4, 4))
F.bilinear(x, x, x.new_ones(5, 4, 3))
F.bilinear(x, x, x.new_ones(5, 4, 4), x.new_ones(4))
"""


@pytest.mark.parametrize("call", WRONG.strip().split("\n"))
def test_what_fails_fails_alike(call: str) -> None:
    compare(lambda t, x, b, g: eval(call, {"F": t.nn.functional, "x": x, "b": b, "g": g}),
            normal(2, 3, 4), normal(2, 3, 4, 5), normal(2, 6, 7, 2))


@pytest.mark.parametrize("call", [
    "F.grid_sample(b, g)", "F.affine_grid(x[:, :2, :3], (2, 3, 4, 5))",
    "F.affine_grid(x[:, :2, :3], (2, 3, 1, 1), True)",
    "F.upsample(b, 3)", "F.upsample_nearest(b, 3)", "F.upsample_bilinear(b, 3)",
])
def test_what_warns_warns_alike(call: str) -> None:
    def case(t: Any) -> Any:
        x, b, g = (t.arange(n).reshape(shape) / 7 for n, shape in ((24, (2, 3, 4)), (120, (2, 3, 4, 5)),
                                                                   (168, (2, 6, 7, 2))))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = eval(call, {"F": t.nn.functional, "x": x, "b": b, "g": g})
        return [(w.category, str(w.message)) for w in seen], result.shape

    same(case)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [False, True])
def test_points_on_borders_far_away_and_nowhere(mode: str, padding: str, align: bool) -> None:
    """PyTorch's backward pass fails on the points that are not finite."""
    nowhere = np.array([[np.nan, 0], [0, np.nan], [np.inf, 0], [-np.inf, 0.3]])
    points = np.array([[1, 1], [-1, -1], [0, 0], [1.5, -1.5], [3, -3], [1e10, 0], [-1 / 3, 0.5], [0.25, 1 / 3]])
    for grid, grad in ((nowhere, False), (points, True)):
        compare(lambda t, x, y: t.nn.functional.grid_sample(x, y, mode, padding, align), normal(1, 2, 3, 4),
                grid.reshape(1, 1, -1, 2), grad=grad, order=1)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "area"])
@pytest.mark.parametrize("size", [3, 5, 8, 10])
def test_what_is_not_finite_stays_where_it_is(mode: str, size: int) -> None:
    x = np.array([np.nan, 1, np.inf, 2, 3]).reshape(1, 1, 5)
    compare(lambda t, x: t.nn.functional.interpolate(x, size, mode=mode), x, order=1)


@pytest.mark.parametrize(("mode", "shape", "scale", "antialias"), [
    ("linear", (2, 3, 7), 1.1, False), ("trilinear", (1, 2, 3, 2, 4), 1.2, False),
    *((mode, (1, 2, 3, 5), scale, antialias) for mode in ("bilinear", "bicubic") for antialias in (False, True)
      for scale in (1.1, (1.3, 1.0), (1.0, 1.1), (1.3, 2.0), (0.7, 1.1))),
])
def test_scales_that_leave_the_size_unchanged(mode: str, shape: tuple[int, ...], scale: Any, antialias: bool) -> None:
    compare(lambda t, x: t.nn.functional.interpolate(x, scale_factor=scale, mode=mode, antialias=antialias),
            normal(*shape), order=1)


@pytest.mark.parametrize("scale", [1.01, 2.01, 1.1, 2.1])
@pytest.mark.parametrize("shape", [(2, 4, 9), (2, 3, 9, 8), (1, 4, 65, 9), (1, 4, 64, 65), (1, 3, 65, 64),
                                   (2, 4, 9, 8, 3), (2, 3, 9, 8, 3)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_nearest_elements_by_a_scale_close_to_one_or_two(shape: tuple[int, ...], scale: float,
                                                         channels_last: bool) -> None:
    """PyTorch has kernels that do not look at such a scale, and kernels that do."""
    def case(t: Any, x: Any) -> Any:
        if channels_last and x.dim() > 3:
            x = x.contiguous(memory_format=t.channels_last if x.dim() == 4 else t.channels_last_3d)
        return t.nn.functional.interpolate(x, scale_factor=scale)

    compare(case, np.arange(math.prod(shape)).reshape(shape) % 101 / 4, order=1)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("channels", [1, 3, 5])
def test_bytes_are_weighed_in_whole_numbers(channels: int, mode: str, align: bool, antialias: bool) -> None:
    """Exactly as PyTorch does it, but for its images of more than four channels and one column, which are wrong."""
    for had, new in (((6, 7), (3, 3)), ((6, 7), (9, 11)), ((2, 9), (7, 9)), ((1, 1), (3, 2)), ((5, 3), (1, 2))):
        image = draws.integers(0, 256, (2, channels, *had)).astype("uint8")
        compare(lambda t, x, new=new: t.nn.functional.interpolate(x, new, mode=mode, align_corners=align,
                                                                  antialias=antialias), image)
    image = draws.choice(np.array([0, 255], "uint8"), (1, channels, 8, 8))             # what overshoots
    compare(lambda t, x: t.nn.functional.interpolate(x, scale_factor=(1.7, 0.8), mode=mode, align_corners=align,
                                                     antialias=antialias), image)


@pytest.mark.parametrize("call", [
    "F.layer_norm(x, (4,), 2)", "F.layer_norm(x, (4,), None, 2.)", "F.rms_norm(x, (4,), 2)",
    "F.group_norm(x, 2, [1.])", "F.batch_norm(x, x[0], x[0], 2)", "F.batch_norm(x, 'a', x[0])",
    "F.instance_norm(x[None], None, None, 'a')", "F.scaled_dot_product_attention(x, 2, x)",
    "F.scaled_dot_product_attention(x, x, x, True)", "F.bilinear(x, 2, x)", "F.bilinear(x, x, None)",
    "F.bilinear(x, x, x, 3)", "F.kl_div(x, 0.5, reduction='sum')", "F.kl_div(None, x, reduction='sum')",
])
def test_what_is_no_tensor_is_named(call: str) -> None:
    compare(lambda t, x: eval(call, {"F": t.nn.functional, "x": x}), normal(3, 4))
