"""Calls that a dispatch mode sees: the operators that arrive are PyTorch's, with the shapes of their tensors.

`CALLS` is compared with PyTorch, forward and backward. `DIFFERENT` names the calls for which other operators arrive,
and why. It is the one list of these differences.
"""

# The calls use these tensors: x, y and p of shape (4, 5), b of (2, 4, 5), w of (3, 5), v of (3,), the images im with
# the weight k, the symmetric matrix s, and the indices i, j and c.
CALLS = """
x + 1
x + y
1 + x
x - 1
1 - x
x * 2
x * y
x / 2
x / y
2 / x
x ** 2
x ** 0.5
p ** y
2 ** x
-x
abs(x)
x % 2
x // 2
x > 0
x == y
x.exp()
x.expm1()
p.log()
p.log1p()
p.log2()
p.log10()
x.sin()
x.cos()
x.tan()
x.sinh()
x.cosh()
x.tanh()
x.atan()
p.sqrt()
p.rsqrt()
p.reciprocal()
x.square()
x.sign()
x.floor()
x.ceil()
x.round()
x.trunc()
x.frac()
x.erf()
x.erfc()
x.sigmoid()
x.relu()
x.clamp(-1, 1)
x.clamp(min=0)
x.clamp_min(0)
x.clamp_max(1)
p.lgamma()
torch.maximum(x, y)
torch.minimum(x, y)
torch.atan2(x, y)
torch.hypot(x, y)
torch.where(x > 0, x, y)
torch.lerp(x, y, 0.3)
torch.addcmul(x, y, p)
torch.addcdiv(x, y, p, value=2)
torch.add(x, y, alpha=2)
torch.sub(x, y, alpha=2)
x.sum()
x.sum(0)
x.sum(1, keepdim=True)
x.mean()
x.mean(0)
x.mean((0, 1), keepdim=True)
x.prod()
x.prod(0)
x.var()
x.var(0)
x.std()
x.std(1)
x.norm()
x.norm(dim=1)
torch.linalg.vector_norm(x, 2, 1)
x.max()
x.max(0)
x.min(1)
x.amax(0)
x.amin(1)
x.argmax(1)
x.argmin()
x.median()
x.median(0)
x.logsumexp(0)
x.cumsum(0)
x.cumprod(0)
x.cummax(0)
x.sort(0)
x.argsort(0)
x.topk(2)
x.kthvalue(2)
x.all()
(x > 0).any(0)
x.nonzero()
x.view(20)
x.view(5, 4)
x.reshape(-1)
x.t()
x.T
x.t().reshape(-1)
x.transpose(0, 1)
x.permute(1, 0)
x.unsqueeze(0)
x.unsqueeze(0).squeeze(0)
x.unsqueeze(0).squeeze()
x.expand(2, 4, 5)
x.repeat(2, 1)
x.flip(0)
x.roll(1, 0)
x.narrow(0, 1, 2)
x[0]
x[1:3]
x[:, 1]
x[..., ::2]
x[None]
x[i]
x[:, i]
x[x > 0]
x.select(0, 1)
x.chunk(2)
x.split(2)
x.split([1, 3])
x.unbind(0)
x.diagonal()
x.diag()
torch.diag_embed(x)
x.tril()
x.triu()
x.unfold(0, 2, 1)
x.as_strided((2, 2), (1, 2))
torch.cat([x, y])
torch.stack([x, y])
x.gather(1, j)
x.scatter(1, j, y)
x.scatter(1, j, 1.5)
x.scatter_add(1, j, y)
x.index_select(0, i)
x.index_add(0, i, x[:2])
x.index_copy(0, i, x[:2])
x.index_fill(0, i, 1.0)
x.masked_fill(x > 0, 0)
x.masked_select(x > 0)
x.take(i)
torch.index_put(x, (i,), torch.zeros(2, 5))
x @ y.t()
torch.mm(x, y.t())
torch.mv(x, y[0])
torch.dot(x[0], y[0])
torch.bmm(b, b.transpose(1, 2))
b @ x.t()
torch.einsum("ij,kj->ik", x, y)
torch.outer(x[0], y[0])
torch.addmm(x[:, :4], x, y.t())
torch.baddbmm(b @ b.transpose(1, 2), b, b.transpose(1, 2))
F.linear(x, w)
F.linear(x, w, v)
F.linear(b, w, v)
F.softmax(x, 1)
F.log_softmax(x, 1)
F.gelu(x)
F.gelu(x, approximate="tanh")
F.silu(x)
F.mish(x)
F.elu(x)
F.selu(x)
F.celu(x)
F.leaky_relu(x)
F.relu6(x)
F.hardtanh(x)
F.hardswish(x)
F.hardsigmoid(x)
F.softplus(x)
F.softsign(x)
F.logsigmoid(x)
F.softshrink(x)
F.hardshrink(x)
F.tanhshrink(x)
F.glu(b[:, :, :4])
F.threshold(x, 0.1, 2)
F.prelu(x, v[:1])
F.mse_loss(x, y)
F.mse_loss(x, y, reduction="sum")
F.l1_loss(x, y)
F.smooth_l1_loss(x, y)
F.huber_loss(x, y)
F.cross_entropy(x, c)
F.cross_entropy(x, c, reduction="none")
F.cross_entropy(x, c, label_smoothing=0.1)
F.nll_loss(x, c)
F.binary_cross_entropy(x.sigmoid(), y.sigmoid().detach())
F.binary_cross_entropy_with_logits(x, y.sigmoid().detach())
F.kl_div(x, y)
F.cosine_similarity(x, y)
F.normalize(x)
F.layer_norm(x, (5,))
F.layer_norm(x, (5,), y[0], y[1])
F.group_norm(im, 3)
F.batch_norm(im, torch.zeros(3), torch.ones(3), training=True)
F.batch_norm(im, torch.zeros(3), torch.ones(3), training=False)
F.instance_norm(im)
F.rms_norm(x, (5,))
F.embedding(c, x)
F.one_hot(c)
F.conv1d(im[0], torch.ones(2, 6, 3))
F.conv2d(im, k)
F.conv2d(im, k, stride=2, padding=1)
F.conv_transpose2d(im, torch.ones(3, 2, 2, 2))
F.max_pool2d(im, 2)
F.avg_pool2d(im, 2)
F.adaptive_avg_pool2d(im, 2)
F.adaptive_avg_pool2d(im, 1)
F.adaptive_max_pool2d(im, 2)
F.pad(x, (1, 1))
F.pad(im, (1, 1, 1, 1), mode="reflect")
F.pad(im, (1, 1, 1, 1), mode="replicate")
F.interpolate(im, scale_factor=2)
F.interpolate(im, scale_factor=2, mode="bilinear")
F.unfold(im, 2)
F.pixel_shuffle(torch.ones(1, 4, 2, 2), 2)
F.scaled_dot_product_attention(b, b, b)
F.dropout(x, 0.5)
F.grid_sample(im, torch.zeros(2, 2, 2, 2), align_corners=False)
x.double()
x.to(torch.float64)
x.int()
x.bool()
x.clone()
x.contiguous()
x.t().contiguous()
x.detach()
x.flatten()
x.isnan()
x.isfinite()
x.isinf()
torch.isclose(x, y)
torch.allclose(x, y)
torch.equal(x, y)
x.bernoulli(0.5)
torch.zeros(2, 3)
torch.ones(2)
torch.full((2,), 3.0)
torch.arange(4)
torch.arange(1, 4)
torch.arange(0, 1, 0.25)
torch.eye(3)
torch.linspace(0, 1, 4)
torch.rand(3)
torch.randn(2, 2)
torch.randint(3, (2,))
torch.randint(1, 3, (2,))
torch.randperm(3)
torch.empty(2)
torch.zeros_like(x)
torch.ones_like(x)
torch.rand_like(x)
torch.full_like(x, 2)
x.new_zeros(3)
x.new_ones(2, 2)
x.new_empty(2)
x.new_full((2,), 1.0)
torch.tensor([1.0])
x.sum().item()
torch.linalg.inv(s)
torch.linalg.det(s)
torch.linalg.solve(s, s)
torch.linalg.cholesky(s)
torch.linalg.qr(s)
torch.linalg.svd(s)
torch.linalg.eigh(s)
torch.fft.fft(x)
torch.meshgrid(x[0], y[0], indexing="ij")
x.detach().clone().add_(1)
x.detach().clone().mul_(y)
x.detach().clone().sub_(y, alpha=2)
x.detach().clone().div_(2)
x.detach().clone().exp_()
x.detach().clone().clamp_(0, 1)
x.detach().clone().zero_()
x.detach().clone().fill_(2)
x.detach().clone().copy_(y)
x.detach().clone().masked_fill_(x > 0, 1)
x.detach().clone().index_fill_(0, i, 1)
x.detach().clone().scatter_(1, j, 2)
x.detach().clone().relu_()
x.detach().clone().normal_()
x.detach().clone().uniform_(0, 1)
x.detach().clone().t_()
x.detach().clone().lerp_(y, 0.5)
x.detach().clone().addcmul_(x, y)
x.detach().clone().pow_(2)
x.detach().clone().sqrt_()
x.detach().clone().clamp_min_(0)
x.cumsum(1).sum().sqrt()
torch.nn.utils.clip_grad_norm_([x], 1.0)
torch.cdist(x, y)
torch.kron(x, y)
torch.tensordot(x, y, dims=([1], [1]))
torch.nan_to_num(x)
torch.logaddexp(x, y)
torch.heaviside(x, y)
torch.fmod(x, 2)
torch.remainder(x, y)
torch.floor_divide(x, 2)
torch.bucketize(x, torch.tensor([0.0, 1.0]))
torch.searchsorted(torch.tensor([0.0, 1.0]), x)
torch.bincount(c)
torch.histc(x)
torch.tril_indices(3, 3)
torch.cross(x[:, :3], y[:, :3])
torch.movedim(x, 0, 1)
torch.swapaxes(x, 0, 1)
torch.hstack([x, y])
torch.vstack([x, y])
torch.tile(x, (2, 1))
x.repeat_interleave(2, 0)
torch.isin(c, i)
torch.logical_not(x)
torch.logical_and(x, y)
c & 1
c | c
~c
c << 1
""".strip().splitlines()

REASONS = {
    "check": "LAPACK's status is checked by the kernel here, and by an operator in PyTorch",
    "formula": "the rule writes the gradient in another formula",
    "memory": "PyTorch takes memory, or lifts or saves a value, where nothing is needed here",
    "overload": "a number or a flag chooses another overload of the same computation",
    "own": "an operator of retrograd computes the gradient, which PyTorch composes of several",
    "whole": "one operator here is several in PyTorch, or the other way round",
}
DIFFERENT = {
    "1 - x": "formula",
    "p ** y": "formula",
    "2 ** x": "formula",
    "x.tan()": "formula",
    "p.rsqrt()": "formula",
    "x.erf()": "formula",
    "x.erfc()": "formula",
    "x.clamp(-1, 1)": "overload",
    "torch.maximum(x, y)": "formula",
    "torch.minimum(x, y)": "formula",
    "torch.atan2(x, y)": "formula",
    "torch.addcdiv(x, y, p, value=2)": "formula",
    "x.prod()": "own",
    "x.prod(0)": "own",
    "x.var()": "formula",
    "x.var(0)": "formula",
    "x.std()": "formula",
    "x.std(1)": "formula",
    "x.norm()": "formula",
    "x.norm(dim=1)": "formula",
    "torch.linalg.vector_norm(x, 2, 1)": "formula",
    "x.max()": "own",
    "x.amax(0)": "own",
    "x.amin(1)": "own",
    "x.median()": "own",
    "x.logsumexp(0)": "formula",
    "x.cumprod(0)": "own",
    "x.cummax(0)": "own",
    "x.repeat(2, 1)": "own",
    "x[:, i]": "own",
    "x.diag()": "whole",
    "x.as_strided((2, 2), (1, 2))": "own",
    "x.index_add(0, i, x[:2])": "formula",
    "x.index_copy(0, i, x[:2])": "formula",
    "x.masked_fill(x > 0, 0)": "formula",
    "x.masked_select(x > 0)": "own",
    "x.take(i)": "own",
    "torch.index_put(x, (i,), torch.zeros(2, 5))": "own",
    "torch.mv(x, y[0])": "formula",
    "F.prelu(x, v[:1])": "formula",
    "F.cross_entropy(x, c, label_smoothing=0.1)": "formula",
    "F.binary_cross_entropy_with_logits(x, y.sigmoid().detach())": "formula",
    "F.kl_div(x, y)": "formula",
    "F.cosine_similarity(x, y)": "formula",
    "F.normalize(x)": "formula",
    "F.group_norm(im, 3)": "memory",
    "F.batch_norm(im, torch.zeros(3), torch.ones(3), training=True)": "memory",
    "F.batch_norm(im, torch.zeros(3), torch.ones(3), training=False)": "memory",
    "F.instance_norm(im)": "memory",
    "F.rms_norm(x, (5,))": "formula",
    "F.one_hot(c)": "whole",
    "F.scaled_dot_product_attention(b, b, b)": "overload",
    "F.dropout(x, 0.5)": "overload",
    "x.isfinite()": "whole",
    "torch.isclose(x, y)": "whole",
    "x.bernoulli(0.5)": "overload",
    "torch.linalg.inv(s)": "check",
    "torch.linalg.det(s)": "whole",
    "torch.linalg.solve(s, s)": "own",
    "torch.linalg.cholesky(s)": "check",
    "torch.linalg.qr(s)": "formula",
    "torch.linalg.svd(s)": "own",
    "torch.linalg.eigh(s)": "own",
    "torch.fft.fft(x)": "whole",
    "torch.nn.utils.clip_grad_norm_([x], 1.0)": "memory",
    "torch.cdist(x, y)": "whole",
    "torch.nan_to_num(x)": "whole",
    "torch.bucketize(x, torch.tensor([0.0, 1.0]))": "overload",
    "torch.tril_indices(3, 3)": "memory",
    "torch.tile(x, (2, 1))": "own",
    "c << 1": "overload",
}
