"""Layers with formulas of their own against PyTorch: the softmax in clusters, old norms, gradients of convolutions."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare
from comparing.same_text import same

draws = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return draws.standard_normal(shape)


def clusters(t: Any, **options: Any) -> Any:
    t.manual_seed(0)
    return t.nn.AdaptiveLogSoftmaxWithLoss(**{"in_features": 8, "n_classes": 20, "cutoffs": [4, 10, 15],
                                              "div_value": 2.0, **options}).double()


TARGETS: list[Callable[[Any], Any]] = [
    lambda t: t.tensor([0, 5, 12, 19, 3]), lambda t: t.tensor([1, 2, 3, 0, 0]), lambda t: t.tensor([0, 5, 12]),
    lambda t: t.tensor([0, 5, 12, 20, 3]), lambda t: t.tensor([0, -5, 12, 20, 3]), lambda t: t.tensor(3),
    lambda t: t.tensor([[0], [5], [12], [19], [3]]), lambda t: t.tensor([0., 5, 12, 19, 3])]


@pytest.mark.parametrize("number", range(len(TARGETS)))
@pytest.mark.parametrize("bias", [False, True])
def test_log_probabilities_of_targets(number: int, bias: bool) -> None:
    def case(t: Any, x: Any) -> Any:
        layer = clusters(t, head_bias=bias)
        output, loss = layer(x, TARGETS[number](t))
        return output, loss, *t.autograd.grad(loss, [*layer.parameters()], retain_graph=True)

    compare(case, normal(5, 8))


def test_all_log_probabilities_and_the_best() -> None:
    def case(t: Any, x: Any, many: Any) -> Any:
        layer = clusters(t)
        alone = layer(x[0], t.tensor(12))
        return (layer.log_prob(x), layer.predict(x), layer.predict(many), alone.output, alone.loss,
                layer(x[:0], t.tensor([], dtype=t.int64)).loss)

    compare(case, normal(5, 8), 3 * normal(60, 8))


def test_clusters_begin_alike() -> None:
    same(lambda t: (clusters(t), clusters(t).state_dict()))
    same(lambda t: (lambda layer: (layer.reset_parameters(), layer.state_dict()))(clusters(t, head_bias=True)))
    same(lambda t: clusters(t)(t.ones(2, 8).double(), t.tensor([0, 19]))._fields)


CUTOFFS: list[Any] = [[], [0], [4, 4], [5, 4], [20], [19], [1.5], [5.0], [-1], "ab", 3, (5, 10)]


@pytest.mark.parametrize("number", range(len(CUTOFFS)))
def test_cutoffs(number: int) -> None:
    same(lambda t: t.nn.AdaptiveLogSoftmaxWithLoss(8, 20, CUTOFFS[number]).cutoffs)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 9, 12])
def test_response_over_channels(size: int) -> None:
    """Both ways as in PyTorch, whose sums of squares always have channel 0, and whose gradient is shifted."""
    compare(lambda t, x: t.nn.CrossMapLRN2d(size, alpha=0.5, k=2.0)(x), normal(2, 6, 2, 3), order=1)


def test_response_needs_images() -> None:
    for shape in ((2, 3), (2, 3, 4)):
        same(lambda t, shape=shape: t.nn.CrossMapLRN2d(3)(t.ones(shape)))
    same(lambda t: t.nn.CrossMapLRN2d(1)(t.ones(1, 2, 1, 1)))
    same(lambda t: t.nn.CrossMapLRN2d(0)(t.ones(1, 2, 1, 1)))


@pytest.mark.parametrize("shape", [
    (2, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 2, 2, 2), (3,), (2, 0, 3), (1, 3), (2, 2, 3)])
def test_synchronized_norms_in_one_process(shape: tuple[int, ...]) -> None:
    def case(t: Any, x: Any) -> Any:
        layer = t.nn.SyncBatchNorm(3).double()
        return layer(x), *layer.state_dict().values(), layer.eval()(x)

    compare(case, normal(*shape), order=1)


def converted(t: Any) -> Any:
    inner = t.nn.Sequential(t.nn.BatchNorm2d(2, affine=False, momentum=None, eps=1e-3))
    module = t.nn.Sequential(t.nn.BatchNorm1d(3), t.nn.Linear(2, 2), inner, t.nn.InstanceNorm1d(3)).eval()
    found = t.nn.SyncBatchNorm.convert_sync_batchnorm(module)
    alone = t.nn.BatchNorm1d(2, track_running_stats=False, bias=False)
    other = t.nn.SyncBatchNorm.convert_sync_batchnorm(alone)
    return found, found is module, found.training, found[0].training, other, other.weight is alone.weight


def test_norms_are_converted() -> None:
    same(converted)


def test_containers_of_old() -> None:
    same(lambda t: t.nn.Container(a=t.nn.Linear(1, 1), b=t.nn.ReLU()))
    same(lambda t: t.nn.Container(a=3))
    same(lambda t: t.nn.Container()(3))


OPTIONS = [(1, 0, 1, 1), (2, 1, 1, 1), (1, 1, 2, 2), (3, 2, 1, 2)]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions(dims: int, options: tuple[int, int, int, int]) -> None:
    def case(t: Any, x: Any, weight: Any) -> Any:
        gradients = importlib.import_module(f"{t.__name__}.nn.grad")
        out = getattr(t.nn.functional, f"conv{dims}d")(x, weight, None, *options)
        cotangent = t.arange(out.numel(), dtype=t.float64).reshape(out.shape) / out.numel()
        return (getattr(gradients, f"conv{dims}d_input")(x.shape, weight.detach(), cotangent, *options),
                getattr(gradients, f"conv{dims}d_weight")(x.detach(), weight.shape, cotangent, *options))

    compare(case, normal(2, 4, *[5] * dims), normal(6, 4 // options[3], *[2] * dims))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 2, 2)])
def test_a_loss_of_nothing_has_the_sign_of_pytorch(shape: tuple[int, ...], reduction: str) -> None:
    def case(t: Any) -> list[Any]:
        found = []
        for number in (0, 2, -100):
            for weight in (None, t.tensor([1.0, 0.5, 0.0])):
                target = t.full((shape[0], *shape[2:]) if len(shape) > 1 else (), number)
                found.append(t.nn.functional.nll_loss(t.zeros(shape), target, weight, reduction=reduction))
        return found

    same(case)


def test_the_old_names_of_limits() -> None:
    def case(t: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            t.nn.Hardtanh(min_value=-2.0, max_value=3.0)
        return [f"{warning.category.__name__}: {warning.message}" for warning in seen]

    same(case)
