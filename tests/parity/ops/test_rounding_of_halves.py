"""Results and gradients in float16 and bfloat16 are rounded where PyTorch rounds them: the same bits.

PyTorch computes some functions in float32 and rounds once, and rounds each step of others. A few elements may differ
in the last bit: where float32 sums have another order, or where a function of float32 is off by a bit itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

Case = Callable[..., Any]
MANY = 4096


def few(size: int) -> int:
    """How many of so many elements may differ in the last bit. A single number may not."""
    return 0 if size == 1 else max(2, size // 250)


def _rows(x: Any) -> Any:
    return x.reshape(64, 64)


def _images(x: Any) -> Any:
    return x.reshape(4, 8, 128)


def _half_open(x: Any) -> Any:
    return x.abs() % 1


NUMBERS: dict[str, Case] = {
    "add": lambda t, x, y: t.add(x, y, alpha=0.3), "sub": lambda t, x, y: t.sub(x, y, alpha=0.3),
    "rsub": lambda t, x, y: t.rsub(x, y, alpha=0.7), "add number": lambda t, x: t.add(x, 2, alpha=0.3),
    "add_": lambda t, x, y: x.clone().add_(y, alpha=0.3), "sub_": lambda t, x, y: x.clone().sub_(y, alpha=-1.7),
    "lerp": lambda t, x, y: t.lerp(x, y, 0.3), "times": lambda t, x: x * 0.3, "over": lambda t, x: 0.3 / x,
    "square": lambda t, x: x**2, "cube": lambda t, x: x**3, "inverse square": lambda t, x: x**-2,
    "power": lambda t, x: x.abs()**2.3, "root": lambda t, x: x.abs()**0.5, "inverse": lambda t, x: x**-1,
    "addcmul": lambda t, x, y, z: t.addcmul(x, y, z, value=0.3), "atan2": lambda t, x, y: t.atan2(x, y),
    "hypot": lambda t, x, y: t.hypot(x, y),
    "deg2rad": lambda t, x: t.deg2rad(x), "rad2deg": lambda t, x: t.rad2deg(x), "sinc": lambda t, x: t.sinc(x),
    "logit": lambda t, x: t.logit(_half_open(x)), "logit eps": lambda t, x: t.logit(_half_open(x), 0.1),
    "entr": lambda t, x: t.special.entr(_half_open(x)), "xlogy": lambda t, x, y: t.xlogy(x, y.abs()),
    "xlog1py": lambda t, x, y: t.special.xlog1py(x, y.abs()), "tanh": lambda t, x: x.tanh(),
    "sigmoid": lambda t, x: x.sigmoid(), "exp": lambda t, x: x.exp(), "log": lambda t, x: x.abs().log(),
    "sin": lambda t, x: x.sin(), "atan": lambda t, x: x.atan(), "expm1": lambda t, x: x.expm1(),
    "erf": lambda t, x: x.erf(), "log2": lambda t, x: x.abs().log2(), "asinh": lambda t, x: x.asinh(),
    "logsumexp": lambda t, x: _rows(x).logsumexp(1), "logsumexp of both": lambda t, x: _rows(x).logsumexp((0, 1)),
    "softmax": lambda t, x: _rows(x).softmax(1), "softmax of columns": lambda t, x: _rows(x).softmax(0),
    "log_softmax": lambda t, x: _rows(x).log_softmax(1), "log_softmax of one": lambda t, x: x.log_softmax(0),
    "log_softmax of columns": lambda t, x: _rows(x).log_softmax(0), "norm": lambda t, x: _rows(x).norm(dim=1),
    "mean": lambda t, x: _rows(x).mean(0), "var": lambda t, x: _rows(x).var(1),
    "mm": lambda t, x, y: _rows(x) @ _rows(y),
    "addmm": lambda t, x, y, z: t.addmm(_rows(x), _rows(y), _rows(z), beta=0.3, alpha=0.7),
    "addmv": lambda t, x, y, z: t.addmv(x[:64], _rows(y), z[:64], beta=0.3, alpha=0.7),
    "addmv of nothing": lambda t, x, y: t.addmv(x[:64], _rows(x), y[:64], beta=0, alpha=0.7),
    "addr": lambda t, x, y, z: t.addr(_rows(x), y[:64], z[:64], beta=0.3, alpha=0.7),
    "baddbmm": lambda t, x, y, z: t.baddbmm(
        x.reshape(4, 32, 32), y.reshape(4, 32, 32), z.reshape(4, 32, 32), beta=0.3, alpha=0.7),
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y),
    "binary cross-entropy": lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(
        x, _half_open(y), reduction="none"),
    "batch_norm": lambda t, x, y, z: t.nn.functional.batch_norm(_images(x), None, None, y[:8], z[:8], True),
    "batch_norm of floats": lambda t, x, y, z: t.nn.functional.batch_norm(
        _images(x), None, None, y[:8].float(), z[:8].float(), True),
    "batch_norm of few": lambda t, x: t.nn.functional.batch_norm(
        x[:4032].reshape(3, 192, 7), None, None, training=True),
    "instance_norm": lambda t, x: t.nn.functional.instance_norm(_images(x)),
}
for _name in ("relu", "elu", "selu", "celu", "silu", "mish", "softplus", "softsign", "hardtanh", "hardswish",
              "hardsigmoid", "leaky_relu", "tanhshrink", "softshrink", "relu6"):
    NUMBERS[_name] = lambda t, x, name=_name: getattr(t.nn.functional, name)(x)
# Only the results, since PyTorch's derivatives have steps of their own.
RESULTS: dict[str, Case] = {
    "rsqrt": lambda t, x: t.rsqrt(x.abs()),
    "trunc": lambda t, x, y: t.div(x, y, rounding_mode="trunc"), "floor": lambda t, x, y: t.floor_divide(x, y),
    "trunc by number": lambda t, x: t.div(x, 0.3, rounding_mode="trunc"), "floor by number": lambda t, x: x // 0.3,
    "number by floor": lambda t, x: 7.3 // x, "trunc in place": lambda t, x: x.clone().div_(0.3, rounding_mode="trunc"),
    "trunc by one": lambda t, x: t.div(x, t.tensor(0.3), rounding_mode="trunc"),
    "add one": lambda t, x: t.add(x, t.tensor(0.3), alpha=0.7), "rsub number": lambda t, x: t.rsub(x, 0.3, alpha=0.7),
    "add to one": lambda t, x: t.add(t.tensor(0.3), x, alpha=0.7), "by zero": lambda t, x: t.floor_divide(x, x * 0),
    "of infinities": lambda t, x: t.floor_divide(x * math.inf, x), "by infinities": lambda t, x: x // (x * math.inf),
    "floor mode": lambda t, x, y: t.div(x, y, rounding_mode="floor"), "glu": lambda t, x: t.nn.functional.glu(x),
    "addcdiv": lambda t, x, y, z: t.addcdiv(x, y, z, value=0.3), "prod": lambda t, x: x.reshape(512, 8).prod(1),
    "weighted binary cross-entropy": lambda t, x, y, z: t.nn.functional.binary_cross_entropy_with_logits(
        x, _half_open(y), z.abs(), pos_weight=z.abs(), reduction="none"),
    "batch_norm of running": lambda t, x, y, z: t.nn.functional.batch_norm(
        _images(x), y[:8], z[:8].abs()),
}


def found(package: Any, dtype: str, case: Case, grads: bool) -> list[Any]:
    draws = np.random.default_rng(0)
    given = [package.tensor((3 * draws.standard_normal(MANY)).astype(np.float32)).to(getattr(package, dtype))
             for _ in range(case.__code__.co_argcount - 1 - len(case.__defaults__ or ()))]
    with package.set_grad_enabled(grads):
        result = case(package, *[x.requires_grad_(grads) for x in given])
    if grads:
        cotangent = draws.standard_normal(tuple(result.shape)).astype(np.float32)
        result.backward(package.tensor(cotangent).to(result.dtype))
    gradients = [x.grad for x in given if grads and x.grad is not None]
    return [(str(x.dtype), x.detach().float().numpy()) for x in (result, *gradients)]


@pytest.mark.filterwarnings("ignore:.*instance_norm")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [*NUMBERS, *RESULTS])
def test_the_same_bits(name: str, dtype: str) -> None:
    expected, ours = [found(package, dtype, {**NUMBERS, **RESULTS}[name], name in NUMBERS)
                      for package in (torch, retrograd)]
    assert len(ours) == len(expected)
    for (dtype_of_theirs, theirs), (dtype_of_own, own) in zip(expected, ours):
        assert dtype_of_own == dtype_of_theirs
        same = (theirs == own) | (np.isnan(theirs) & np.isnan(own))
        assert (~same).sum() <= few(same.size)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("count", [1, 5, 16, 17, 33, 300, 5000])
@pytest.mark.parametrize("shape", [(), (3,)], ids=["rows", "images"])
def test_losses_of_classes_are_added_as_pytorch_adds_them(count: int, shape: tuple[int, ...], dtype: str) -> None:
    draws = np.random.default_rng(count)
    scores = draws.standard_normal((count, 5, *shape)).astype(np.float32)
    targets, weight = draws.integers(-1, 5, (count, *shape)), (draws.random(5) + 0.5).astype(np.float32)
    if count == 300:
        targets.reshape(-1)[::16] = -1                     # where a sum would move up, no sample counts
    for weights in (None, weight):
        for reduction in ("mean", "sum"):
            sums = []
            for package in (torch, retrograd):
                half = getattr(package, dtype)
                sums.append(package.nn.functional.nll_loss(
                    package.tensor(scores).to(half), package.tensor(targets),
                    None if weights is None else package.tensor(weights).to(half), ignore_index=-1,
                    reduction=reduction).float().item())
            np.testing.assert_equal(*sums)


PAIRS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "few": lambda a: (a[:24], a[24:48]), "lines": lambda a: (a[:100], a[100:200]), "one": lambda a: (a[:1], a[1:2]),
    "numbers": lambda a: (a[0], a[1]), "none": lambda a: (a[:0], a[:0]), "a number": lambda a: (a[:100], a[5]),
    "to a number": lambda a: (a[5], a[:100]), "a row": lambda a: (a[:1200].view(30, 40), a[:40]),
    "to a row": lambda a: (a[:40], a[:1200].view(30, 40)),
    "one row": lambda a: (a[:40].view(1, 40), a[40:80].view(1, 40)),
    "a column": lambda a: (a[:1200].view(30, 40)[:, :1], a[1200:2400].view(30, 40)),
    "columns": lambda a: (a[:1200].view(30, 40).t(), a[1200:2400].view(30, 40).t()),
    "columns and rows": lambda a: (a[:1200].view(30, 40).t(), a[1200:2400].view(40, 30)),
    "every second": lambda a: (a[:1200:2], a[1:1201:2]), "cubes": lambda a: (a[:2400].view(2, 3, 400), a[:400]),
    "parts of rows": lambda a: (a[:1200].view(30, 40)[:, :37], a[1200:2400].view(30, 40)[:, 3:]),
    "every second matrix": lambda a: (a[:2400].view(6, 20, 20)[::2], a[:1200].view(3, 20, 20))}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_factor_of_tensors_of_any_layout(name: str, dtype: str) -> None:
    numbers, sums = np.random.default_rng(0).standard_normal(3000).astype(np.float32), []
    for t in (torch, retrograd):
        x, y = PAIRS[name](t.tensor(numbers).to(getattr(t, dtype)))
        found = t.add(x, y, alpha=0.3), t.sub(x, y, alpha=-1.7), t.rsub(y, x, alpha=0.9)
        sums.append([z.float().numpy() for z in found])
    for theirs, own in zip(*sums):
        np.testing.assert_array_equal(own, theirs)
