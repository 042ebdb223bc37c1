"""Calls of PyTorch's operators by their overloads, to compare retrograd with PyTorch."""

import torch

aten = torch.ops.aten
t = torch.tensor([[1., 2.], [3., 4.]])
one, classes, images = torch.tensor(1.), torch.tensor([0, 1]), torch.arange(16.).view(1, 1, 4, 4)
waves = images.sin()


def rounded(value):
    if isinstance(value, torch.Tensor):
        numbers = value.double() if value.is_floating_point() else value
        return value.dtype, tuple(value.shape), [f"{x:.4g}".replace("-0", "0") for x in numbers.flatten().tolist()]
    return [rounded(each) for each in value] if isinstance(value, (list, tuple)) else value


for call in (
        lambda: aten._softmax.default(t, 1, False), lambda: aten.add.Tensor(t, t, alpha=2),
        lambda: aten.mul.Tensor(t, 2), lambda: aten.unsqueeze.default(t, 0),
        lambda: aten.threshold_backward.default(t, t, 0), lambda: aten.slice.Tensor(t, 0, 1),
        lambda: aten._log_softmax_backward_data.default(t, t, 1, torch.float32), lambda: aten.t.default(t),
        lambda: aten.native_layer_norm.default(t, [2], None, None, 1e-5), lambda: aten.gelu_backward.default(t, t),
        lambda: aten.convolution.default(images, images[..., :2, :2], None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        lambda: aten.index.Tensor(t, [None, classes]), lambda: aten.sum.dim_IntList(t, [0], True),
        lambda: aten.detach.default(t), lambda: aten.view.default(t, [4]), lambda: aten._unsafe_view.default(t, [4]),
        lambda: aten.expand.default(t, [2, 2, 2]), lambda: aten.mse_loss.default(t, t + 1, 1),
        lambda: aten.mse_loss_backward.default(one, t, t + 1, 1), lambda: aten.zeros.default([2]),
        lambda: aten.nll_loss_forward.default(t, classes, None, 1, -100),
        lambda: aten.nll_loss_backward.default(one, t, classes, None, 1, -100, one * 2),
        lambda: aten.max_pool2d_with_indices.default(images, [2, 2], [2, 2]), lambda: aten.ones_like.default(t),
        lambda: aten._to_copy.default(t, dtype=torch.float64), lambda: aten.copy_.default(t.clone(), t + 1),
        lambda: aten.native_batch_norm.default(images, None, None, None, None, True, 0.1, 1e-5)[0],
        lambda: aten.embedding.default(t, classes), lambda: aten.where.self(t > 1, t, t * 0),
        lambda: aten.embedding_dense_backward.default(t, classes, 3, -1, False), lambda: aten.alias.default(t),
        lambda: aten.fill_.Scalar(t.clone(), 3), lambda: aten.bmm.default(t[None], t[None]),
        lambda: aten.addmm.default(t, t, t), lambda: aten._local_scalar_dense.default(one),
        lambda: aten.cat.default([t, t]), lambda: aten.split.Tensor(t, 1), lambda: aten.sigmoid_backward.default(t, t),
        lambda: aten.var.correction(t, [0], correction=1), lambda: aten.tanh_backward.default(t, t),
        lambda: aten.silu_backward.default(t, t), lambda: aten.select_backward.default(t[0], [2, 2], 0, 1),
        lambda: aten.convolution_backward.default(images[..., :3, :3], images, images[..., :2, :2], [1], [1, 1], [0, 0],
                                                  [1, 1], False, [0, 0], 1, [True, True, True]),
        lambda: aten.upsample_nearest2d.default(images, [8, 8]), lambda: aten.lift_fresh.default(t),
        lambda: aten.masked_fill.Scalar(t, t > 1, 0), lambda: aten.constant_pad_nd.default(t, [1, 1]),
        lambda: aten.rsub.Scalar(t, 1), lambda: aten.pow.Tensor_Scalar(t, 2), lambda: aten.max.dim(t, 1),
        lambda: aten._softmax_backward_data.default(t, t, 1, torch.float32), lambda: aten.arange.default(3),
        lambda: aten.full.default([2], 1.5), lambda: aten.add_.Tensor(t.clone(), 1),
        lambda: aten.native_layer_norm_backward.default(
            images, waves, [4], waves.mean(3, True), (waves.var(3, correction=0, keepdim=True) + 1e-5).rsqrt(), None,
            None, [True, False, False])[0]):
    print(rounded(call()))
func = aten.add.Tensor
print(func, func.name(), func.namespace, func.overloadpacket is aten.add, func.overloadpacket, func.__name__)
print(func._schema, [(a.name, str(a.type), a.default_value, a.kwarg_only) for a in func._schema.arguments])
for func in (aten.add_.Tensor, aten.view.default, aten.mul.Tensor, aten.detach.default, aten.native_layer_norm.default):
    print(func._schema, func._schema.is_mutable, func.is_view, [
        a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments])
x = torch.ones(2, requires_grad=True)
y = aten.mul.Tensor(aten.exp.default(x), 2)
y.sum().backward()
print(y.grad_fn.name(), x.grad)
