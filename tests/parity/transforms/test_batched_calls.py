"""Calls inside of `vmap`: values, shapes and dtypes are PyTorch's. What the samples are is drawn once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from retrograd.tensors.transforms.batching import BatchLevel
from retrograd.tensors.transforms.crossing import enter_batch, entered, leave_batch

SAMPLES = 4
DRAWS = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return DRAWS.standard_normal((SAMPLES, *shape)).astype(np.float32)


def ints(high: int, *shape: int) -> Any:
    return DRAWS.integers(0, high, (SAMPLES, *shape))


X, I, J = floats(3, 5), ints(3), ints(3, 2)                # noqa: E741
# The function of the library and of a sample of each array; the arrays, with all samples.
CALLS: dict[str, tuple[Any, ...]] = {
    "einsum": (lambda t, a, b: t.einsum("ij,jk->ik", a, b), X, floats(5, 2)),
    "matmul mv": (lambda t, a, b: a @ b, X, floats(5)),
    "matmul vm": (lambda t, a, b: b @ a, X, floats(3)),
    "matmul bc": (lambda t, a, b: a @ b, floats(2, 3, 5), floats(5, 2)),
    "tensordot": (lambda t, a, b: t.tensordot(a, b, 1), X, floats(5, 2)),
    "outer": (lambda t, a, b: t.outer(a, b), floats(3), floats(2)),
    "idx batched": (lambda t, a, i: a[i], X, ints(3, 2)),
    "idx batched scalar": (lambda t, a, i: a[i], X, ints(3)),
    "idx 2": (lambda t, a, i: a[:, i], X, ints(3, 2)),
    "idx 3": (lambda t, a, i: a[i, i], X, ints(3, 2)),
    "take_along": (lambda t, a, i: t.take_along_dim(a, i, 1), X, ints(3, 3, 2)),
    "setidx": (lambda t, a, i: (lambda b: (b.__setitem__(i, a[0]), b)[1])(a.clone()), X, ints(3, 2)),
    "setslice": (lambda t, a: (lambda b: (b.__setitem__((slice(None), slice(1, 3)), 1.0), b)[1])(a.clone()), X),
    "conv": (lambda t, a, w: t.nn.functional.conv2d(a[None], w), floats(2, 6, 6), floats(3, 2, 3, 3)),
    "conv unb w": (lambda t, a: t.nn.functional.conv2d(a[None], t.ones(3, 2, 3, 3), padding=1), floats(2, 6, 6)),
    "conv g": (lambda t, a, w: t.nn.functional.conv2d(a[None], w, groups=2), floats(4, 6, 6), floats(6, 2, 3, 3)),
    "convT": (
        lambda t, a, w: t.nn.functional.conv_transpose2d(a[None], w, stride=2), floats(2, 6, 6), floats(2, 3, 3, 3)),
    "pool": (lambda t, a: t.nn.functional.max_pool2d(a, 2), floats(2, 6, 6)),
    "apool": (lambda t, a: t.nn.functional.adaptive_avg_pool2d(a[None], 1), floats(2, 6, 6)),
    "ce": (lambda t, a, i: t.nn.functional.cross_entropy(a, i), X, ints(5, 3)),
    "ce none": (lambda t, a, i: t.nn.functional.cross_entropy(a, i, reduction="none", ignore_index=1), X, ints(5, 3)),
    "ce ls": (lambda t, a, i: t.nn.functional.cross_entropy(a, i, label_smoothing=0.1), X, ints(5, 3)),
    "ce w": (lambda t, a, i: t.nn.functional.cross_entropy(a, i, weight=t.arange(5.0)), X, ints(5, 3)),
    "ce one": (lambda t, a, i: t.nn.functional.cross_entropy(a, i), floats(5), ints(5)),
    "ln": (lambda t, a: t.nn.functional.layer_norm(a, (5,)), X),
    "gn": (lambda t, a: t.nn.functional.group_norm(a[None], 1), X),
    "bn": (lambda t, a: t.nn.functional.batch_norm(a, None, None, training=True), X),
    "in": (lambda t, a: t.nn.functional.instance_norm(a[None]), X),
    "rms": (lambda t, a: t.nn.functional.rms_norm(a, (5,)), X),
    "sdpa": (lambda t, a: t.nn.functional.scaled_dot_product_attention(*[a[None, None]] * 3, is_causal=True), X),
    "softmax": (lambda t, a: a.softmax(-1), X),
    "sort": (lambda t, a: a.sort(descending=True)[0], X),
    "topk": (lambda t, a: a.topk(2)[1], X),
    "argsort": (lambda t, a: a.argsort(0), X),
    "median": (lambda t, a: a.median(), X),
    "quantile": (lambda t, a: t.quantile(a, 0.3), X),
    "cdist": (lambda t, a: t.cdist(a, a), X),
    "svd": (lambda t, a: t.linalg.svdvals(a), X),
    "inv": (lambda t, a: t.linalg.inv(a @ a.T + t.eye(3)), X),
    "solve": (lambda t, a: t.linalg.solve(a @ a.T + t.eye(3), a[:, 0]), X),
    "fft": (lambda t, a: t.fft.rfft(a).abs(), X),
    "interp": (lambda t, a: t.nn.functional.interpolate(a[None, None], scale_factor=2.0, mode="bilinear"), X),
    "pad": (lambda t, a: t.nn.functional.pad(a, (1, 2)), X),
    "padr": (lambda t, a: t.nn.functional.pad(a[None], (1, 2), mode="reflect"), X),
    "unfold": (lambda t, a: t.nn.functional.unfold(a[None, None], 2), X),
    "where": (lambda t, a: t.where(a > 0, a, 0.0), X),
    "cumprod": (lambda t, a: a.cumprod(-1), X),
    "diff": (lambda t, a: a.diff(), X),
    "roll": (lambda t, a: a.roll(1), X),
    "norm": (lambda t, a: a.norm(), X),
    "stack": (lambda t, a: t.stack([a, a * 2]), X),
    "cat unb": (lambda t, a: t.cat([a, t.zeros(1, 5)]), X),
    "tril": (lambda t, a: a.tril(), X),
    "diag": (lambda t, a: t.diag(a[0]), X),
    "trapz": (lambda t, a: t.trapezoid(a), X),
    "gather": (lambda t, a, i: a.gather(1, i), X, ints(5, 3, 2)),
    "scatter": (lambda t, a, i: t.zeros(3, 5).scatter(1, i, a), X, np.argsort(floats(3, 5))),
    "index_add": (lambda t, a, i: t.zeros(5, 5).index_add(0, i, a), X, ints(5, 3)),
    "emb": (lambda t, i, w: t.nn.functional.embedding(i, w), ints(3, 2), X),
    "sum0": (lambda t, a: a.sum(0, keepdim=True), X),
    "mean": (lambda t, a: a.mean(), X),
    "var": (lambda t, a: a.var(0), X),
    "max": (lambda t, a: a.max(1)[0], X),
    "argmax": (lambda t, a: a.argmax(), X),
    "amax": (lambda t, a: a.amax(), X),
    "flatten": (lambda t, a: a.flatten(), X),
    "T": (lambda t, a: a.T.contiguous(), X),
    "mT": (lambda t, a: a.mT, X),
    "movedim": (lambda t, a: a.movedim(0, 1), X),
    "sq": (lambda t, a: a[None].squeeze(), X),
    "expand": (lambda t, a: a[:, :1].expand(3, 4), X),
    "repeat": (lambda t, a: a.repeat(2, 1, 1), X),
    "ri": (lambda t, a: a.repeat_interleave(2, 0), X),
    "unbind": (lambda t, a: a.unbind(1)[0], X),
    "chunk": (lambda t, a: a.chunk(2, 1)[1], X),
    "iter": (lambda t, a: sum(r for r in a), X),
    "huber": (lambda t, a: t.nn.functional.huber_loss(a, a * 0), X),
    "kl": (lambda t, a: t.nn.functional.kl_div(a.log_softmax(-1), a.softmax(-1)), X),
    "bce": (lambda t, a: t.nn.functional.binary_cross_entropy_with_logits(a, (a > 0).float()), X),
    "nlloss": (lambda t, a, i: t.nn.functional.nll_loss(a, i), X, ints(5, 3)),
    "cossim": (lambda t, a: t.nn.functional.cosine_similarity(a, a + 1), X),
    "normalize": (lambda t, a: t.nn.functional.normalize(a), X),
    "histc": (lambda t, a: t.histc(a), X),
    "bucketize": (lambda t, a: t.bucketize(a, t.tensor([-1.0, 0, 1])), X),
    "isin": (lambda t, a: t.isin(a.round(), t.tensor([0.0, 1])), X),
    "multi_dot": (lambda t, a: t.linalg.multi_dot([a, a.T, a]), X),
    "kron": (lambda t, a: t.kron(a, a), X),
    "baddbmm": (lambda t, a: t.baddbmm(a[None], a[None] @ a.T @ a / 9, t.eye(5)[None]), X),
    "logdet": (lambda t, a: t.logdet(a @ a.T + t.eye(3)), X),
    "matexp": (lambda t, a: t.matrix_exp(a @ a.T / 9), X),
    "pinv": (lambda t, a: t.linalg.pinv(a), X),
    "lstsq": (lambda t, a: t.linalg.lstsq(a.T, a.T[:, :1])[0], X),
    "masked_fill": (lambda t, a: a.masked_fill(a > 0, 1.0), X),
    "clamp": (lambda t, a: a.clamp(-1, 1), X),
    "inplace": (lambda t, a: a.clone().add_(1).mul_(a).relu_(), X),
    "zeros_like": (lambda t, a: t.zeros_like(a).add_(a), X),
    "new_zeros": (lambda t, a: a.new_zeros(3, 5).add_(a), X),
    "full_like": (lambda t, a: t.full_like(a, 2) * a, X),
    "empty_like": (lambda t, a: t.empty_like(a).copy_(a), X),
    "tensor": (lambda t, a: t.stack([a.sum(), a.mean()]), X),
    "vander": (lambda t, a: t.vander(a[0]), X),
    "cov": (lambda t, a: t.cov(a), X),
    "corrcoef": (lambda t, a: t.corrcoef(a), X),
    "cross": (lambda t, a: t.linalg.cross(a.T, a.T), X),
    "prod": (lambda t, a: a.prod(), X),
    "all": (lambda t, a: (a > 0).all(), X),
    "count": (lambda t, a: t.count_nonzero(a > 0), X),
    "std_mean": (lambda t, a: t.std_mean(a)[1], X),
    "logsumexp": (lambda t, a: a.logsumexp(0), X),
    "bincount": (lambda t, i: t.bincount(i, minlength=5), np.tile(np.arange(3), (4, 1))),
    "pixel_shuffle": (lambda t, a: t.nn.functional.pixel_shuffle(a, 2), floats(4, 3, 3)),
    "grid": (
        lambda t, a: t.nn.functional.grid_sample(a[None], t.zeros(1, 2, 2, 2), align_corners=False), floats(2, 3, 3)),
    "glu": (lambda t, a: t.nn.functional.glu(a, 0), floats(4, 3)),
    "i": (lambda t, a, i: a[i], X, I),
    "i int32": (lambda t, a, i: a[i.int()], X, I),
    ":i": (lambda t, a, i: a[:, i], X, I),
    "i,None": (lambda t, a, i: a[i, None], X, I),
    "i,1": (lambda t, a, i: a[i, 1], X, I),
    "1,i": (lambda t, a, i: a[1, i], X, I),
    "i,:2": (lambda t, a, i: a[i, :2], X, I),
    "...i": (lambda t, a, i: a[..., i], X, I),
    "ii": (lambda t, a, i: a[i, i], X, I),
    "ij": (lambda t, a, i, j: a[i, j], X, I, J),
    "j:i": (lambda t, a, i, j: a[None][j * 0, :, i], X, I, J),
    "set i": (lambda t, a, i: (lambda b: (b.__setitem__(i, 0.0), b)[1])(a.clone()), X, I),
    "set i t": (lambda t, a, i: (lambda b: (b.__setitem__((slice(None), i), a[:, 0]), b)[1])(a.clone()), X, I),
    "set unb idx": (lambda t, a, i: (lambda b: (b.__setitem__(t.tensor([0, 2]), a[:2]), b)[1])(a.clone()), X, I),
    "clamp t": (lambda t, a: a.clamp(a.min(), a.mean()), X),
    "lerp": (lambda t, a: a.lerp(a * 2, a.mean()), X),
    "neg idx": (lambda t, a, j: a[j - 3], X, J),
    "ell": (lambda t, a, j: a[..., j], X, J),
    "None j": (lambda t, a, j: a[None, j], X, J),
    ":j set": (lambda t, a, j: (lambda b: (b.__setitem__((slice(None), j), 1.0), b)[1])(a.clone()), X, J),
    "put acc": (lambda t, a, j: a.index_put((j,), t.ones(2, 5), accumulate=True), X, J),
    "x unb": (lambda t, a, j: t.arange(15.0).reshape(3, 5)[:, j], X, J),
    "x unb sel": (lambda t, a, j: t.arange(15.0).reshape(3, 5).index_select(1, j), X, J),
    "dropout eval": (lambda t, a: t.nn.functional.dropout(a, training=False), X),
    "split": (lambda t, a: a.split(2)[1], X),
    "tensor_split": (lambda t, a: a.tensor_split(2, 1)[1], X),
    "view": (lambda t, a: a.view(-1), X),
    "reshape T": (lambda t, a: a.T.reshape(-1), X),
    "as_strided": (lambda t, a: a.as_strided((2, 2), (5, 1)), X),
    "detach": (lambda t, a: a.detach() * 2, X),
    "to": (lambda t, a: a.double(), X),
    "float16": (lambda t, a: a.half() + 1, X),
    "complex": (lambda t, a: t.complex(a, a).abs(), X),
    "scalar in": (lambda t, a: a * 2 + 1, floats()),
    "sum scalar": (lambda t, a: a.sum(), floats()),
    "softmax scalar": (lambda t, a: a.softmax(0), floats()),
    "sort scalar": (lambda t, a: a.sort()[0], floats()),
    "batch_norm of its own": (lambda t, a: t.nn.BatchNorm1d(5, track_running_stats=False)(a).detach(), X),
    "batch_norm by weights": (lambda t, a: t.nn.functional.batch_norm(
        t.arange(12.0).reshape(4, 3), t.zeros(3), t.ones(3), a, training=True), floats(3)),
    "batch_norm by biases": (lambda t, a: t.native_batch_norm(
        t.arange(12.0).reshape(3, 4), None, a, t.zeros(4), t.ones(4), True, 0.1, 1e-5)[1], floats(4)),
    "layer_norm by weights": (lambda t, a: t.native_layer_norm(
        t.arange(12.0).reshape(4, 3), [3], a, a, 1e-5)[2], floats(3)),
    "max2": (lambda t, a: t.maximum(a, t.tensor(0.0)), floats()),
}


def ours(function: Callable[..., Any], arrays: tuple[Any, ...]) -> Any:
    level = BatchLevel(SAMPLES, "error")
    with entered(level):
        found = function(retrograd, *[enter_batch(level, retrograd.tensor(array), 0) for array in arrays])
    return leave_batch(level, found, 0).numpy()


@pytest.mark.filterwarnings("ignore::UserWarning")         # PyTorch's, about loops
@pytest.mark.parametrize("name", CALLS)
def test_calls_inside_of_vmap(name: str) -> None:
    function, *arrays = CALLS[name]
    expected = torch.func.vmap(lambda *samples: function(torch, *samples))(*map(torch.tensor, arrays)).numpy()
    found = ours(function, tuple(arrays))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
