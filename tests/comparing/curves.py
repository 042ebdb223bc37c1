"""Smooth curves through all families of operators: functions of one number, for derivatives of high order.

Each line is an expression of a number `x` (a 0-d tensor of float64) with the library as `t`. `at(library)` gives the
functions. Their derivatives are known from differences; see `derivative`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CURVES = """
x.sin() * x
(x * x).exp()
x.pow(3.5)
x.tanh() / (x + 2)
(x + 1).log() * x.sqrt()
t.sigmoid(x * 3).cos()
t.atan2(x, x * x + 1)
t.hypot(x, x.sin())
t.erf(x) * t.lgamma(x + 2)
t.special.i0(x) * x
t.special.ndtr(x) + t.special.log_ndtr(x)
t.digamma(x + 1)
t.polygamma(1, x + 1)
t.xlogy(x, x + 1)
t.logaddexp(x, x * x)
t.special.entr(x)
t.expm1(x) * t.log1p(x)
t.sinh(x) * t.acosh(x + 2)
t.asin(x / 2) + t.acos(x / 3) + t.asinh(x) + t.atanh(x / 2)
t.rsqrt(x) + t.reciprocal(x + 1)
t.erfinv(x / 2)
t.sinc(x)
t.logit(x)
t.nn.functional.softplus(x * x)
t.nn.functional.silu(x) * t.nn.functional.mish(x)
t.nn.functional.gelu(x) + t.nn.functional.gelu(x, approximate="tanh")
t.nn.functional.elu(x - 1) + t.nn.functional.celu(x - 1.5) + t.nn.functional.selu(x - 2)
t.nn.functional.logsigmoid(x) * x
t.lerp(x, x * x, x.sin())
t.addcmul(x, x * x, x.exp()) + t.addcdiv(x, x, x + 1)
v(x).sum() * v(x).mean()
v(x).prod()
t.prod(t.stack([x, x * 0, x + 1]))
v(x).cumsum(0).cumprod(0).sum()
t.cumprod(t.stack([x * x, x * 0, x + 1, x.exp()]), 0).cumsum(0).pow(2).sum()
v(x).logsumexp(0)
t.logcumsumexp(v(x), 0).sin().sum()
v(x).var() + v(x).std()
t.var_mean(v(x), 0)[0] * t.std_mean(v(x), 0)[1]
v(x).norm() * v(x).norm(3)
t.linalg.vector_norm(v(x), 4)
v(x).softmax(0)[1] * x
v(x).log_softmax(0)[2] * x
v(x).max() * v(x).min()
v(x).amax() + v(x).amin(0)
v(x).sort().values[1] * v(x).topk(2).values[0]
v(x).median() * v(x).kthvalue(2).values
v(x).cummax(0).values.prod()
v(x).flip(0).roll(1)[0] * v(x)[1]
v(x).gather(0, i)[1] * v(x).index_select(0, i)[0]
v(x).take(i).prod()
t.take_along_dim(v(x), i, 0).pow(2).sum()
z(x).scatter(0, i, v(x)).pow(3).sum()
z(x).scatter_add(0, i, v(x)).exp().sum()
t.scatter_reduce(z(x), 0, i, v(x), "prod").sum()
t.scatter_reduce(z(x), 0, i, v(x), "mean").pow(3).sum()
z(x).index_add(0, i, v(x)).sin().sum()
z(x).index_copy(0, i[:2], v(x)[:2]).pow(3).sum()
z(x).index_put((i,), v(x), accumulate=True).pow(2).sum()
v(x).masked_fill(m, 2.0).prod()
t.where(m, v(x), v(x) * v(x)).prod()
v(x).clamp(0.1, 9.0).prod()
t.maximum(v(x), v(x).flip(0)).prod()
t.outer(v(x), v(x).sin()).pow(2).sum()
v(x).dot(v(x).cos())
s(x).mv(v(x)).prod()
(s(x) @ s(x)).trace()
t.matmul(s(x), v(x)).sum().sin()
t.bmm(s(x)[None], s(x).exp()[None]).sum()
t.addmm(s(x), s(x), s(x).sin()).sum()
t.baddbmm(s(x)[None], s(x)[None], s(x)[None], beta=0.5, alpha=2).pow(2).sum()
t.einsum("ij,jk,ki", s(x), s(x).sin(), s(x).cos())
t.linalg.det(s(x))
t.linalg.slogdet(s(x))[1] * x
t.linalg.inv(s(x)).sum()
t.linalg.solve(s(x), v(x)).prod()
t.linalg.lstsq(s(x), s(x).sin()).solution.sum() if r else t.linalg.solve(s(x), s(x).sin()).sum()
t.linalg.cholesky(p(x)).sum()
t.cholesky_inverse(t.linalg.cholesky(p(x))).sum()
t.cholesky_solve(v(x)[:, None], t.linalg.cholesky(p(x))).sum()
t.linalg.solve_triangular(t.triu(s(x)), s(x), upper=True).sum()
t.linalg.eigvalsh(p(x)).pow(3).sum()
t.linalg.eigh(p(x)).eigenvectors.pow(4).sum()
t.linalg.svdvals(s(x)).pow(3).sum()
t.linalg.qr(s(x)).R.pow(2)[0].sum().sin()
t.linalg.matrix_exp(s(x) / 3).sum()
t.linalg.matrix_power(s(x), 3).sum()
t.linalg.pinv(s(x)).sum()
t.linalg.householder_product(s(x)[:, :2] / 3, v(x)[:2]).pow(2).sum()
t.linalg.lu_factor(s(x))[0].pow(2).sum()
t.linalg.cross(v(x), v(x).sin()).pow(2).sum()
t.linalg.multi_dot([s(x), s(x).sin(), s(x)]).sum()
t.kron(s(x), s(x)).pow(2).sum()
t.tril(s(x)).sum() * t.triu(s(x), 1).sum()
t.diag_embed(v(x)).matmul(s(x)).sum().sin()
t.diagonal(s(x) @ s(x)).prod()
t.tensordot(s(x), s(x).sin(), 1).pow(2).sum()
t.cdist(s(x), s(x).sin() + 2).sum()
t.pdist(s(x)).sum()
t.nn.functional.layer_norm(v(x), (3,))[1] * x
t.nn.functional.layer_norm(s(x), (3,), v(x), v(x)).pow(2).sum()
t.nn.functional.group_norm(s(x)[None], 1).pow(3).sum()
t.nn.functional.instance_norm(s(x)[None]).pow(3).sum()
t.nn.functional.batch_norm(s(x), None, None, v(x), v(x), True).pow(3).sum()
t.nn.functional.normalize(v(x), dim=0)[0] * x
t.nn.functional.cosine_similarity(v(x), v(x).sin(), 0)
t.nn.functional.pairwise_distance(v(x)[None], v(x).sin()[None] + 1).sum()
t.nn.functional.conv1d(s(x)[None], s(x)[None], v(x)[:1]).pow(2).sum()
t.nn.functional.conv2d(s(x)[None, None], s(x)[None, None, :2, :2]).pow(2).sum()
t.nn.functional.conv_transpose1d(s(x)[None], s(x)[:, None]).sin().sum()
t.nn.functional.avg_pool1d(s(x)[None], 2).pow(2).sum()
t.nn.functional.max_pool1d(s(x)[None], 2).pow(2).sum()
t.nn.functional.interpolate(s(x)[None], 5, mode="linear").pow(2).sum()
t.nn.functional.pad(s(x)[None], (1, 1), mode="reflect").pow(2).sum()
t.nn.functional.unfold(s(x)[None, None], 2).pow(2).sum()
t.nn.functional.grid_sample(s(x)[None, None], s(x)[None, :, :2, None].expand(1, 3, 2, 2) / 9).pow(2).sum()
t.nn.functional.linear(v(x), s(x), v(x)).prod()
t.nn.functional.bilinear(v(x)[None], v(x)[None], s(x)[None]).sum().log()
t.nn.functional.scaled_dot_product_attention(s(x)[None], s(x).sin()[None], s(x)[None]).pow(2).sum()
t.nn.functional.mse_loss(v(x), v(x).sin()) + t.nn.functional.smooth_l1_loss(v(x), v(x) * 0 + 5)
t.nn.functional.cross_entropy(s(x), i) * x
t.nn.functional.nll_loss(s(x).log_softmax(1), i) * x
t.nn.functional.binary_cross_entropy(v(x).sigmoid(), v(x) * 0 + 0.3)
t.nn.functional.binary_cross_entropy_with_logits(v(x), v(x) * 0 + 0.3)
t.nn.functional.kl_div(v(x).log_softmax(0), v(x).softmax(0))
t.nn.functional.gaussian_nll_loss(v(x), v(x).sin(), v(x).exp())
t.nn.functional.glu(t.cat([v(x), v(x).sin()])).prod()
t.nn.functional.embedding(i, s(x)).pow(2).sum()
t.fft.fft(v(x)).abs().pow(2).sum()
t.fft.irfft(t.fft.rfft(v(x)) * 2).pow(3).sum()
t.complex(x, x.sin()).pow(3).real
t.complex(x, x.sin()).abs() * t.complex(x, x * x).angle()
t.view_as_real(t.complex(v(x), v(x).sin()).exp()).pow(2).sum()
t.polar(x, x * x).imag
t.cat([v(x), v(x).sin()]).reshape(2, 3).permute(1, 0).unfold(0, 2, 1).pow(2).sum()
t.stack([v(x), v(x).exp()]).split(1)[1].squeeze(0).expand(2, 3).pow(2).sum()
s(x).as_strided((2, 2), (1, 3)).pow(2).sum()
t.cov(s(x)).pow(2).sum() + t.corrcoef(s(x)).pow(2).sum()
t.trapezoid(v(x), v(x).sin()) + t.cumulative_trapezoid(v(x)).pow(2).sum()
t.renorm(s(x), 2, 0, 1.0).pow(3).sum()
t.dist(v(x), v(x).sin() + 1, 3)
inplace(x)
through_views(x)
"""


def at(t: Any, *, ours: bool = False) -> dict[str, Callable[[Any], Any]]:
    """The functions of one number, by their text. `ours` says that `t` is not PyTorch."""
    i = t.tensor([2, 0, 1])
    names = {"t": t, "i": i, "m": t.tensor([True, False, True]), "r": ours,
             "v": lambda x: t.stack([x, x.sin() + 1, x * x + 0.5]),
             "z": lambda x: t.stack([x * 2, x.cos(), x + 3]),
             "s": lambda x: t.stack([x + 2, x.sin(), x * x, x.cos(), x + 3, x.exp() / 4, x * 0.3, x.sin() * x,
                                     x + 2.5]).reshape(3, 3),
             "p": lambda x: (lambda a: a @ a.mT + a.mT @ a)(names["s"](x))}

    def inplace(x: Any) -> Any:
        y = t.zeros(3, dtype=t.float64) + x
        y[1].mul_(x)
        y.mul_(y.exp()).add_(x)
        y[0] = x.sin()
        return y.prod()

    def through_views(x: Any) -> Any:
        y = names["s"](x).clone()
        y.t()[1].copy_(names["v"](x))
        y.view(-1)[::2].mul_(x)
        y.diagonal().pow_(2)
        return y.sum()

    names.update(inplace=inplace, through_views=through_views)
    return {line: eval(f"lambda x: {line}", names) for line in CURVES.split("\n") if line}


# Weights of the central differences of ninth order of accuracy (at most), at -4h ... 4h, for derivatives 0 to 3.
STEPS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
WEIGHTS = (
    (0, 0, 0, 0, 1, 0, 0, 0, 0),
    (1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280),
    (-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560),
    (-7 / 240, 3 / 10, -169 / 120, 61 / 30, 0, -61 / 30, 169 / 120, -3 / 10, 7 / 240),
)


def derivative(function: Callable[[float], float], x: float, order: int) -> float:
    """The derivative of an order up to 3, by differences."""
    h = (0, 5e-3, 1e-2, 2e-2)[order]
    return sum([w * function(x + k * h) for w, k in zip(WEIGHTS[order], STEPS, strict=True) if w]) / h**order
