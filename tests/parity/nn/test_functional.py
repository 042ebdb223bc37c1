"""torch.nn.functional against PyTorch: values, types, graphs, gradients of first and second order, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare

draws = np.random.default_rng(5)
REDUCTIONS = ("mean", "sum", "none")


def normal(*shape: int, dtype: str = "float64") -> np.ndarray[Any, Any]:
    return np.asarray(draws.standard_normal(shape)).astype(dtype)


def unit(*shape: int, dtype: str = "float64") -> np.ndarray[Any, Any]:
    return np.asarray(draws.uniform(0.05, 0.95, shape)).astype(dtype)


def classes(*shape: int, count: int = 3) -> np.ndarray[Any, Any]:
    return np.asarray(draws.integers(0, count, shape))


# Affine maps

@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
@pytest.mark.parametrize("shape", [(4, 3), (3,), (2, 4, 3), (0, 3), (1, 2, 2, 3)])
def test_linear(shape: tuple[int, ...], dtype: str) -> None:
    x, w, b = normal(*shape, dtype=dtype), normal(5, 3, dtype=dtype), normal(5, dtype=dtype)
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), x, w, b)
    compare(lambda t, x, w: t.nn.functional.linear(x, w), x, w)
    compare(lambda t, x, w, b: t.nn.functional.linear(x.detach(), w, b), x, w, b)
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w.detach(), b), x, w, b)
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b.detach()), x, w, b)
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w.detach(), b.detach()), x, w, b)


def test_linear_of_views_and_of_odd_ranks() -> None:
    compare(lambda t, x, w, b: t.nn.functional.linear(x.transpose(0, 1), w, b),
            normal(3, 4, 2), normal(5, 2), normal(5))
    compare(lambda t, x, w, b: t.nn.functional.linear(x.t(), w.t(), b), normal(3, 4), normal(3, 5), normal(5))
    compare(lambda t, x, w: t.nn.functional.linear(x, w), normal(3), normal(3))
    compare(lambda t, x, w: t.nn.functional.linear(x, w), normal(2, 3), normal(3))
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), normal(2, 4, 3), normal(3), normal())
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), normal(2, 3), normal(5, 3), normal(2, 5))
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), normal(2, 3), normal(5, 3), normal())
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), normal(2, 4, 3), normal(5, 3), normal())


@pytest.mark.parametrize("bias", [(5,), (1,), (), (1, 5), (1, 1), (4,)])
@pytest.mark.parametrize("step", [1, 2])
def test_linear_of_a_vector(bias: tuple[int, ...], step: int) -> None:
    compare(lambda t, x, w, b: t.nn.functional.linear(x[::step], w, b), normal(3 * step), normal(5, 3), normal(*bias))


def test_linear_of_a_large_layer() -> None:
    compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), normal(8, 700), normal(100, 700), normal(100))
    compare(lambda t, x, w: t.nn.functional.linear(x, w), normal(8, 700), normal(100, 700))


def test_what_linear_refuses() -> None:
    for x, w, b in [(normal(4, 3), normal(5, 4), normal(5)), (normal(4, 3), normal(5, 3, dtype="float32"), normal(5)),
                    (normal(4, 3), normal(5, 3), normal(4)), (normal(2, 4, 3), normal(5, 4), normal(5))]:
        compare(lambda t, x, w, b: t.nn.functional.linear(x, w, b), x, w, b)
        compare(lambda t, x, w: t.nn.functional.linear(x, w), x, w)


# Activations

ACTIVATIONS: dict[str, Any] = {
    "relu": lambda F, x: F.relu(x), "relu6": lambda F, x: F.relu6(3 * x), "tanh": lambda F, x: F.tanh(x),
    "sigmoid": lambda F, x: F.sigmoid(x), "leaky_relu": lambda F, x: F.leaky_relu(x, 0.1),
    "leaky_relu steep": lambda F, x: F.leaky_relu(x, 2.5), "leaky_relu down": lambda F, x: F.leaky_relu(x, -0.5),
    "elu": lambda F, x: F.elu(x), "elu 2": lambda F, x: F.elu(x, 2.0), "celu": lambda F, x: F.celu(x, 0.5),
    "selu": lambda F, x: F.selu(x), "silu": lambda F, x: F.silu(x), "mish": lambda F, x: F.mish(x),
    "gelu": lambda F, x: F.gelu(x), "gelu tanh": lambda F, x: F.gelu(x, approximate="tanh"),
    "softplus": lambda F, x: F.softplus(x), "softplus 2": lambda F, x: F.softplus(x, 2, 1.5),
    "logsigmoid": lambda F, x: F.logsigmoid(x), "hardtanh": lambda F, x: F.hardtanh(x),
    "hardtanh 0 2": lambda F, x: F.hardtanh(x, 0, 2), "softsign": lambda F, x: F.softsign(x),
    "tanhshrink": lambda F, x: F.tanhshrink(x), "softmax": lambda F, x: F.softmax(x, -1),
    "softmin": lambda F, x: F.softmin(x, -1), "log_softmax": lambda F, x: F.log_softmax(x, 0),
}
IN_PLACE = ("relu", "relu6", "leaky_relu", "elu", "celu", "selu", "silu", "mish", "hardtanh")


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    case = ACTIVATIONS[name]
    for array in (normal(3, 4), normal(), normal(0, 3), normal(3, 4, dtype="float32"), normal(3, 4, dtype="float16"),
                  normal(4, 3).T, 20 * normal(3, 4), np.arange(-2, 3), np.array([True, False])):
        compare(lambda t, x: case(t.nn.functional, x), array)
    compare(lambda t, x: case(t.nn.functional, x), normal(3).astype("complex64"), grad=False)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if "soft" not in name[:5] and name != "log_softmax"])
def test_activations_at_kinks_and_infinities(name: str) -> None:
    case = ACTIVATIONS[name]
    # The second derivative of mish is nan in PyTorch where exp(x) is infinite.
    far = (1e3, -1e3) if name != "mish" else ()
    compare(lambda t, x: case(t.nn.functional, x), np.array([0.0, -0.0, 1.0, -1.0, 2.0, 6.0, *far]))
    with np.errstate(all="ignore"):
        compare(lambda t, x: case(t.nn.functional, x).detach(), np.array([np.inf, -np.inf, np.nan]))


@pytest.mark.parametrize("name", IN_PLACE)
def test_activations_in_place(name: str) -> None:
    compare(lambda t, x: getattr(t.nn.functional, name)(x * 1, inplace=True), normal(3, 4))
    compare(lambda t, x: getattr(t.nn.functional, name)(x.detach(), inplace=True), normal(3, 4))
    compare(lambda t, x: getattr(t.nn.functional, name)(x, inplace=True), normal(3, 4))


def test_what_activations_refuse() -> None:
    x = normal(2, 3)
    compare(lambda t, x: t.nn.functional.hardtanh(x, 3, 1), x)
    compare(lambda t, x: t.nn.functional.celu(x, 0.0), x)
    compare(lambda t, x: t.nn.functional.gelu(x, approximate="other"), x)
    compare(lambda t, x: t.nn.functional.softmax(x, 5), x)
    compare(lambda t, x: t.nn.functional.softmax(x), x)
    compare(lambda t, x: t.nn.functional.softmax(x, 1, dtype=t.float32), x, grad=False)
    for name in set(IN_PLACE) - {"relu6", "selu"}:          # whose messages name what they are made of
        compare(lambda t, name=name: getattr(t.nn.functional, name)(3.0))


# Losses of equal shapes

@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_of_differences(name: str, reduction: str) -> None:
    def case(t: Any, x: Any, y: Any, **options: Any) -> Any:
        return getattr(t.nn.functional, name)(x, y, reduction=reduction, **options)

    for shape in [(4, 3), (), (0, 3)]:
        compare(case, normal(*shape), normal(*shape))
        compare(lambda t, x, y: case(t, x, y.detach()), normal(*shape), normal(*shape))
    compare(case, normal(4, 3), normal(1, 3))
    compare(case, normal(4, 3), normal(2, 3))
    compare(case, normal(4, 3, dtype="float32"), normal(4, 3), grad=False)
    compare(case, normal(4, 3, dtype="float16"), normal(4, 3, dtype="float16"))
    if name != "huber_loss":
        compare(case, normal(4, 3), np.arange(12).reshape(4, 3))
    if name == "smooth_l1_loss":
        for beta in (0.3, 0.0, -1.0):
            compare(lambda t, x, y, beta=beta: case(t, x, y, beta=beta), normal(4, 3), normal(4, 3))
    elif name == "huber_loss":
        for delta in (0.3, 0.0, -1.0):
            compare(lambda t, x, y, delta=delta: case(t, x, y, delta=delta), normal(4, 3), normal(4, 3))
    if name != "smooth_l1_loss":
        compare(lambda t, x, y, w: case(t, x, y, weight=w.detach()), normal(4, 3), normal(4, 3), unit(4, 3))
        compare(lambda t, x, y, w: case(t, x, y, weight=w.detach()), normal(4, 3), normal(4, 3), unit(3))


def test_losses_at_their_kinks() -> None:
    zero, x = np.zeros(5), np.array([0.0, 1.0, -1.0, 0.5, -0.5])
    for name in ("l1_loss", "smooth_l1_loss", "huber_loss"):
        compare(lambda t, x, y, name=name: getattr(t.nn.functional, name)(x, y), x, zero)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropy(reduction: str) -> None:
    def bce(t: Any, x: Any, y: Any, w: Any = None) -> Any:
        return t.nn.functional.binary_cross_entropy(x, y, w, reduction=reduction)

    compare(bce, unit(4, 3), unit(4, 3))
    compare(lambda t, x, y: bce(t, x, y.detach()), unit(4, 3), unit(4, 3))
    compare(lambda t, x, y, w: bce(t, x, y, w.detach()), unit(4, 3), unit(4, 3), unit(3))
    compare(lambda t, x, y: bce(t, x, y.detach()).detach(), np.array([0.0, 1.0, 0.0, 1.0]),
            np.array([0.0, 1.0, 1.0, 0.0]))
    compare(bce, unit(0, 3), unit(0, 3))
    for x, y in [(3 * unit(4) + 1, unit(4)), (unit(4), -unit(4)), (unit(4), unit(3)),
                 (unit(4), unit(4, dtype="float32")),
                 (unit(4), np.array([0, 1, 1, 0]))]:
        compare(bce, x, y)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropy_with_logits(reduction: str) -> None:
    def bce(t: Any, x: Any, y: Any, **options: Any) -> Any:
        return t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction=reduction, **options)

    compare(bce, normal(4, 3), unit(4, 3))
    compare(lambda t, x, y: bce(t, x, y.detach()), normal(4, 3), unit(4, 3))
    compare(lambda t, x, y, w: bce(t, x, y, weight=w.detach()), normal(4, 3), unit(4, 3), unit(3))
    compare(lambda t, x, y, w: bce(t, x, y, pos_weight=w.detach()), normal(4, 3), unit(4, 3), 3 * unit(3))
    compare(bce, np.array([1e3, -1e3, 0.0, 1e3]), np.array([0.0, 1.0, 1.0, 1.0]))
    compare(bce, normal(4), unit(3))
    compare(bce, normal(4), np.array([0, 1, 1, 0]))
    compare(bce, normal(4), np.array([True, False, True, True]))
    compare(bce, normal(4, dtype="float16"), unit(4, dtype="float16"))


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean", "other"])
@pytest.mark.parametrize("log_target", [False, True])
def test_kl_div(reduction: str, log_target: bool) -> None:
    def kl(t: Any, x: Any, y: Any) -> Any:
        return t.nn.functional.kl_div(x, y, reduction=reduction, log_target=log_target)

    compare(kl, -unit(4, 3), unit(4, 3))
    compare(lambda t, x, y: kl(t, x, y.detach()), -unit(4, 3), unit(4, 3))
    compare(lambda t, x, y: kl(t, x, y.detach()), -unit(4, 3), np.array([[0.0, 1.0, 0.5]] * 4))
    compare(kl, -unit(4, 3), np.ones((4, 3), int))


# Losses of classes

@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(4, 3), (3,), (2, 3, 4), (2, 3, 4, 2), (2, 3, 2, 2, 2), (0, 3)])
def test_nll_loss_and_cross_entropy(shape: tuple[int, ...], reduction: str) -> None:
    target = classes(*shape[:1], *shape[2:]) if len(shape) > 1 else classes()
    ignoring = np.where(draws.random(target.shape) < 0.4, -100, target)
    for name in ("nll_loss", "cross_entropy"):
        def loss(t: Any, *args: Any, name: str = name, **options: Any) -> Any:
            return getattr(t.nn.functional, name)(*args, reduction=reduction, **options)

        compare(loss, normal(*shape), target)
        compare(loss, normal(*shape), ignoring)
        compare(lambda t, x, y, w, loss=loss: loss(t, x, y, w.detach()), normal(*shape), ignoring, unit(3))
        compare(lambda t, x, y, loss=loss: loss(t, x, y, ignore_index=1), normal(*shape), target)
        compare(loss, normal(*shape), target.astype(np.uint8))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(4, 3), (3,), (2, 3, 4)])
def test_cross_entropy_with_probabilities_and_smoothing(shape: tuple[int, ...], reduction: str) -> None:
    def loss(t: Any, *args: Any, **options: Any) -> Any:
        return t.nn.functional.cross_entropy(*args, reduction=reduction, **options)

    target = classes(*shape[:1], *shape[2:]) if len(shape) > 1 else classes()
    ignoring = np.where(draws.random(target.shape) < 0.4, -100, target)
    for smoothing in (0.0, 0.2):
        compare(lambda t, x, y, s=smoothing: loss(t, x, y, label_smoothing=s),
                normal(*shape), unit(*shape), names=False)
        compare(lambda t, x, y, w, s=smoothing: loss(t, x, y, w.detach(), label_smoothing=s),
                normal(*shape), unit(*shape), unit(3), names=False)
    for y in (target, ignoring):
        compare(lambda t, x, y: loss(t, x, y, label_smoothing=0.2), normal(*shape), y, names=False)
        compare(lambda t, x, y, w: loss(t, x, y, w.detach(), label_smoothing=0.2),
                normal(*shape), y, unit(3), names=False)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_probabilities_of_no_classes_or_samples(reduction: str) -> None:
    for shape in ((0, 3), (4, 0)):
        compare(lambda t, x, y: t.nn.functional.cross_entropy(x, y, reduction=reduction), normal(*shape),
                normal(*shape))


def test_what_losses_of_classes_refuse() -> None:
    x, y = normal(4, 3), classes(4)
    for name in ("nll_loss", "cross_entropy"):
        def loss(t: Any, *args: Any, name: str = name, **options: Any) -> Any:
            return getattr(t.nn.functional, name)(*args, **options)

        for a, b in [(x, y[:2]), (x, y + 5), (x, y - 7), (x, normal(4)), (x, y.astype("int32")), (x, y[:, None]),
                     (normal(2, 3, 4), classes(2, 5)), (normal(2, 3, 4, 4), classes(2, 4, 5)), (x, y > 0),
                     (normal(2, 3, 4, 4), classes(2, 4)), (normal(3), y), (np.ones((4, 3), int), y)]:
            compare(loss, a, b)
        compare(lambda t, x, y, w, loss=loss: loss(t, x, y, w.detach()), x, y, unit(2))
        compare(lambda t, x, y, w, loss=loss: loss(t, x, y, w.detach()), x, y, unit(3, dtype="float32"))
        compare(lambda t, x, y, loss=loss: loss(t, x, y, reduction="other"), x, y)
    compare(lambda t, x, y: t.nn.functional.cross_entropy(x, y, label_smoothing=2.0), x, y)
    compare(lambda t, x, y: t.nn.functional.cross_entropy(x, y, ignore_index=1), x, unit(4, 3))
    compare(lambda t, x: t.nn.functional.cross_entropy(x, [1, 2, 0, 0]), x)


def test_infinite_scores_that_do_not_count() -> None:
    x = np.array([[0.5, -np.inf], [np.inf, 1.0]])
    compare(lambda t, x, y: t.nn.functional.nll_loss(x, y), x, np.array([0, -100]))
    compare(lambda t, x, y: t.nn.functional.nll_loss(x, y), x, np.array([-100, -100]))


# The rest

def test_one_hot() -> None:
    for array, count in [(classes(4), -1), (classes(2, 3), 5), (classes(), 4), (np.array([], int), 3),
                         (np.array([], int), -1), (np.array([-1]), -1), (np.array([3]), 2), (normal(2), -1),
                         (np.array([1], "int32"), -1)]:
        compare(lambda t, x, n=count: t.nn.functional.one_hot(x, n), array)


def test_distances() -> None:
    x, y = normal(4, 3), normal(4, 3)
    compare(lambda t, x: t.nn.functional.normalize(x), x)
    compare(lambda t, x: t.nn.functional.normalize(x, p=1, dim=0), x)
    compare(lambda t, x, y: t.nn.functional.cosine_similarity(x, y), x, y, names=False)
    compare(lambda t, x, y: t.nn.functional.pairwise_distance(x, y), x, y, names=False)
    for nothing in (normal(3, 0), normal(0), normal(0, 3)):
        for p in (2.0, float("inf"), -float("inf")):
            compare(lambda t, x, p=p: t.nn.functional.pairwise_distance(x, x, p), nothing, names=False)
    compare(lambda t, x, y, w, b: t.nn.functional.bilinear(x, y, w, b),
            normal(4, 3), normal(4, 2), normal(5, 3, 2), normal(5), names=False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 1.0])
def test_dropout_draws_what_pytorch_draws(p: float, dtype: str) -> None:
    def case(t: Any, x: Any, **options: Any) -> Any:
        t.manual_seed(3)
        return t.nn.functional.dropout(x, p, **options)

    for shape in [(5, 4), (30,), (), (0, 2)]:
        compare(case, normal(*shape, dtype=dtype))
    compare(lambda t, x: case(t, x * 1, inplace=True), normal(5, dtype=dtype))
    compare(lambda t, x: case(t, x, training=False), normal(5, dtype=dtype))


def test_what_dropout_refuses() -> None:
    compare(lambda t, x: t.nn.functional.dropout(x, 1.5), normal(3))
