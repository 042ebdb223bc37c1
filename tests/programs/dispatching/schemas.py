"""Overloads of the core called with the arguments of their schemas, to compare retrograd with PyTorch."""

import warnings

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

warnings.simplefilter("ignore")
aten, T = torch.ops.aten, torch.tensor
x, z, o, t = T([[-1.0, 0.5], [2.0, 0.25]]), torch.zeros(2), torch.ones(2), T([0, 1])
image, volume = torch.arange(16.0).view(1, 1, 4, 4), torch.arange(64.0).view(1, 1, 4, 4, 4)
places = T([[0]])


def short(value):
    if isinstance(value, torch.Tensor):
        return [*value.shape], [round(number, 4) for number in value.detach().double().flatten().tolist()]
    return [short(each) for each in value] if isinstance(value, (tuple, list)) else value


def elu_in_place():
    y = x.clone()
    return aten.elu_.default(y, 1.0, 2.0), y


def unchanged():
    y = T([-1.0, 2.0])
    return aten.elu.default(y, 1.0, 3.0), y


def embedded(*options):
    weight = torch.ones(3, 2, requires_grad=True)
    aten.embedding.default(weight, T([0, 1, 1]), *options).sum().backward()
    return weight.grad


for call in (
    unchanged, elu_in_place, lambda: aten.elu.default(x, 1.5, 2.0, 3.0),
    lambda: aten.binary_cross_entropy_with_logits(z, o),
    lambda: aten.binary_cross_entropy_with_logits.default(z, o, None, None, 2),
    lambda: aten.kl_div(z, o), lambda: aten.kl_div.default(z, o, 2, log_target=True),
    lambda: aten.nll_loss.default(x, t, None, 0), lambda: aten.nll_loss(x, t),
    lambda: aten.l1_loss.default(z, o, 2), lambda: aten.multi_margin_loss.default(x, t, 1, 1.0, None, 2),
    lambda: aten.multilabel_margin_loss.default(x, T([[0, -1], [1, -1]]), 0),
    lambda: aten.mse_loss(z, o, 0), lambda: aten.mse_loss(z, o), lambda: aten.smooth_l1_loss(z, o, 2),
    lambda: aten.huber_loss(z, o, 0, 2.0), lambda: aten.binary_cross_entropy(o / 2, o, None, 0),
    lambda: aten.soft_margin_loss(z, o, 0), embedded, lambda: embedded(1), lambda: embedded(-1, True),
    lambda: aten.embedding(x, t), lambda: aten.alias(x), lambda: aten.adaptive_max_pool2d.default(image[0], [2, 2]),
    lambda: aten.adaptive_max_pool3d.default(volume[0], [2, 2, 2]),
    *[lambda name=name: getattr(aten, name).Scalar(x.clone(), 1, 2) for name in ("add", "sub", "rsub", "add_", "sub_")],
    lambda: aten.rsub.Tensor(x, x, alpha=2), lambda: aten.linalg_cross.default(torch.eye(3), torch.ones(3, 3)),
    lambda: aten.linalg_cross.default(torch.eye(3), torch.ones(3, 3), dim=0),
    lambda: aten.linalg_solve_ex.default(x, x),
    lambda: aten.linalg_cholesky_ex.default(torch.eye(2) * 4),
    lambda: aten.linalg_solve_triangular.default(torch.eye(2), x, upper=True),
    lambda: aten.linalg_pinv.atol_rtol_float(x), lambda: aten.unfold.default(x, 0, 2, 1),
    lambda: aten.block_diag.default([x, x]), lambda: aten.linalg_lu.default(x),
    lambda: aten.linalg_qr.default(x)[1].abs(),
    lambda: aten._linalg_slogdet.default(x), lambda: aten._linalg_det.default(x)[0],
    lambda: aten.linalg_lu_solve.default(*aten.linalg_lu_factor_ex.default(x)[:2], x),
    lambda: aten.col2im.default(torch.ones(1, 4, 1), [2, 2], [2, 2], [1, 1], [0, 0], [1, 1]),
    lambda: aten.affine_grid_generator.default(torch.ones(1, 2, 3), [1, 1, 1, 2], False),
    lambda: aten.upsample_nearest2d.vec(torch.ones(1, 1, 1, 1), None, [2.0, 2.0]),
    lambda: aten.upsample_bilinear2d.vec(image[..., :2, :2], [3, 3], False, None),
    lambda: aten.std.default(x, False), lambda: aten.var_mean.default(x), lambda: aten.log_sigmoid_forward.default(x),
    lambda: aten.fractional_max_pool2d.default(image, [2, 2], [2, 2], torch.full((1, 1, 2), 0.4)),
    lambda: aten.reflection_pad2d.default(image, [1, 1, 0, 0]),
    lambda: aten.replication_pad1d.default(image[0], [1, 0]),
    lambda: aten.scatter.value_reduce(x, 0, places, 5.0, reduce="add")):
    try:
        print(short(call()))
    except Exception as error:
        print(type(error).__name__, str(error))


class Double(TorchDispatchMode):
    """Computes in float64."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        def cast(source, target):
            return lambda v: v.to(target) if isinstance(v, torch.Tensor) and v.dtype == source else v
        up, down = cast(torch.float32, torch.float64), cast(torch.float64, torch.float32)
        return tree_map(down, func(*tree_map(up, args), **tree_map(up, kwargs or {})))


def gradient(function):
    y = x.clone().requires_grad_()
    (function(y) ** 2).sum().backward()
    return y.grad


for function in (
    F.selu, F.elu, F.gelu, F.logsigmoid, lambda y: F.gelu(y, approximate="tanh"), lambda y: F.prelu(y, T([0.3])),
    lambda y: F.binary_cross_entropy_with_logits(y, x.sigmoid()), lambda y: F.layer_norm(y, (2,)),
    lambda y: F.group_norm(y[None], 2) + y, lambda y: F.batch_norm(y, o * 0.5, o * 2, weight=o * 3, training=True) + y,
    lambda y: F.batch_norm(y, o * 0.5, o * 2, weight=o * 3), lambda y: F.interpolate(y[None], scale_factor=2),
    lambda y: F.interpolate(y[None, None], size=(3, 3), mode="bilinear"), lambda y: F.adaptive_max_pool1d(y, 1),
    lambda y: F.adaptive_avg_pool2d(y[None], 1), lambda y: F.max_pool3d(y[None, None], (1, 1, 2)),
    lambda y: F.pad(y[None], (1, 1), mode="reflect"), lambda y: F.pad(y[None], (1, 2), mode="replicate"),
    lambda y: F.grid_sample(y[None, None], y[None, :, None] / 3, align_corners=False),
    lambda y: torch.rsub(y, 1, alpha=2), lambda y: torch.block_diag(y, y), lambda y: y.unfold(1, 2, 1),
    lambda y: torch.linalg.solve(y, y.t()) + y, lambda y: torch.linalg.solve(y, x, left=False),
    lambda y: torch.linalg.solve(y, x[0]),
    lambda y: F.l1_loss(y, x + 1), lambda y: F.nll_loss(y, t, reduction="sum")):
    with Double():
        print(short(gradient(function)))
with Double():
    for found in (torch.linalg.cross(torch.eye(3), torch.ones(3, 3)), torch.linalg.solve(x, x), torch.linalg.lu(x),
                  torch.linalg.cholesky(torch.eye(2)), torch.linalg.inv(x), torch.linalg.det(x),
                  F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], is_causal=True),
                  F.affine_grid(torch.ones(1, 2, 3), (1, 1, 1, 2))):
        print(short(found))
