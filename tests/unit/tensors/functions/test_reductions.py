"""Reductions, scans, sorting and softmax: closed forms, facts recorded from PyTorch once, and finite differences."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays_of

import retrograd as torch

Function = Callable[[Any], Any]
draws = np.random.default_rng(11)


def tensor(data: Any) -> Any:
    return torch.from_numpy(np.array(data, dtype="float64"))


def leaf(data: Any) -> Any:
    return tensor(data).requires_grad_()


def gradient(function: Function, x: Any, cotangent: Any = None) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = torch.autograd.grad(function(x), x, cotangent)[0].numpy()
    return found


def numeric(function: Callable[[np.ndarray[Any, Any]], float], x: np.ndarray[Any, Any], step: float = 1e-6) -> Any:
    """The gradient of a number by central differences."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        found[i] = (function(ahead) - function(behind)) / (2 * step)
    return found


DIFFERENTIABLE: dict[str, Function] = {
    "sum": lambda x: x.sum(), "sum over one": lambda x: x.sum(1), "sum kept": lambda x: x.sum((0, 2), keepdim=True),
    "nansum": lambda x: x.nansum(1), "mean": lambda x: x.mean(), "mean over two": lambda x: x.mean((0, -1)),
    "prod": lambda x: x.prod(), "prod along": lambda x: x.prod(1, keepdim=True), "var": lambda x: x.var(),
    "var along": lambda x: x.var(2, correction=0), "std": lambda x: x.std((0, 1)),
    "var_mean": lambda x: sum(torch.var_mean(x, 1)),

    "std_mean": lambda x: sum(torch.std_mean(x)), "max": lambda x: x.max(), "max along": lambda x: x.max(1)[0],
    "min along": lambda x: x.min(-1, True).values, "amax": lambda x: x.amax((0, 2)), "amin": lambda x: x.amin(1),
    "aminmax": lambda x: sum(x.aminmax(dim=1)), "median": lambda x: x.median(),
    "median along": lambda x: x.median(2).values,
    "nanmedian": lambda x: x.nanmedian(0)[0], "mode": lambda x: x.mode(1)[0], "kthvalue": lambda x: x.kthvalue(2, 1)[0],
    "sort": lambda x: x.sort(1, descending=True)[0], "topk": lambda x: x.topk(2, 2).values,
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1), "cummax": lambda x: x.cummax(2)[0], "cummin": lambda x: x.cummin(1)[0],
    "norm": lambda x: x.norm(), "1-norm": lambda x: x.norm(1, 1), "3-norm": lambda x: x.norm(3, (0, 1), keepdim=True),
    "1.5-norm": lambda x: x.norm(1.5, 0), "half-norm": lambda x: x.norm(0.5, 2),
    "inf-norm": lambda x: x.norm(math.inf, 1),
    "-inf-norm": lambda x: x.norm(-math.inf, 1), "-2-norm": lambda x: x.norm(-2, 1),
    "logsumexp": lambda x: x.logsumexp((0, 1)),
    "softmax": lambda x: x.softmax(1), "log_softmax": lambda x: x.log_softmax(-1),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_first_and_second_derivatives_agree_with_differences(name: str) -> None:
    function, x = DIFFERENTIABLE[name], draws.standard_normal((2, 3, 2)) + 0.1
    weights = tensor(draws.standard_normal(function(tensor(x)).shape))
    directions = tensor(draws.standard_normal(x.shape))

    def value(a: np.ndarray[Any, Any]) -> float:
        return float((function(tensor(a)) * weights).sum().item())

    def slope(a: np.ndarray[Any, Any]) -> float:
        inner = leaf(a)
        (g,) = torch.autograd.grad((function(inner) * weights).sum(), inner, create_graph=True)
        return float((g * directions).sum().item())

    y = leaf(x)
    found = gradient(lambda t: (function(t) * weights).sum(), y)
    np.testing.assert_allclose(found, numeric(value, x), rtol=1e-6, atol=1e-7)
    (first,) = torch.autograd.grad((function(y) * weights).sum(), y, create_graph=True)
    second = torch.autograd.grad((first * directions).sum(), y, allow_unused=True)[0] if first.requires_grad else None
    np.testing.assert_allclose(0 if second is None else second.numpy(), numeric(slope, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("zeros", "expected"), [([0, 4, 5], [20, 0, 0]),
                                                   ([0, 4, 0], [0, 0, 0]), ([2, 4, 5], [20, 10, 8])])
def test_the_gradient_of_a_product_with_zeros(zeros: list[int], expected: list[int]) -> None:
    assert gradient(lambda x: x.prod(), leaf(zeros)).tolist() == expected
    assert gradient(lambda x: x.prod(0), leaf(zeros)).tolist() == expected


def test_the_second_derivative_of_a_product_with_zeros() -> None:
    x = leaf([0.0, 4.0, 5.0])
    (first,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    rows = [torch.autograd.grad(first[i], x, retain_graph=True)[0].tolist() for i in range(3)]
    assert rows == [[0, 5, 4], [5, 0, 0], [4, 0, 0]]


def test_the_gradient_of_a_cumulative_product_with_zeros() -> None:
    # d(x0 + x0 x1 + x0 x1 x2) at (2, 0, 3)
    assert gradient(lambda x: x.cumprod(0).sum(), leaf([2, 0, 3])).tolist() == [1, 8, 0]


def test_ties() -> None:
    x = [2.0, 1.0, 2.0, 1.0]
    assert gradient(lambda t: t.max(), leaf(x)).tolist() == [0.5, 0, 0.5, 0]
    assert gradient(lambda t: t.max(0)[0], leaf(x)).tolist() == [1, 0, 0, 0]
    assert gradient(lambda t: t.amin(0), leaf(x)).tolist() == [0, 0.5, 0, 0.5]
    assert gradient(lambda t: t.median(), leaf(x)).tolist() == [0, 0.5, 0, 0.5]
    assert gradient(lambda t: t.median(0)[0], leaf(x)).tolist() == [0, 0, 0, 1]
    assert gradient(lambda t: t.norm(math.inf), leaf(x)).tolist() == [0.5, 0, 0.5, 0]
    assert gradient(lambda t: sum(t.aminmax()), leaf(x)).tolist() == [0.5] * 4


@pytest.mark.parametrize("function", [lambda x: x.norm(), lambda x: x.norm(3), lambda x: x.norm(1),
                                      lambda x: x.norm(0.5), lambda x: x.norm(math.inf), lambda x: x.std(),
                                      lambda x: torch.std_mean(x)[0]])
def test_subgradients_at_zero_are_zero(function: Function) -> None:
    assert gradient(function, leaf([0, 0, 0])).tolist() == [0, 0, 0]


def test_nan() -> None:
    x = [1.0, math.nan, 3.0, 3.0]
    for function in (lambda t: t.max(), lambda t: t.min(0)[0], lambda t: t.median(), lambda t: t.median(0).values):
        t = leaf(x)
        assert math.isnan(function(t).item())
        assert gradient(function, t).tolist() == [0, 1, 0, 0]
    assert tensor(x).argmax().item() == tensor(x).argmin().item() == 1
    assert gradient(lambda t: t.nansum(), leaf(x)).tolist() == [1, 0, 1, 1]
    assert tensor(x).nanmedian().item() == 3
    assert tensor(x).sort().indices.tolist() == [0, 2, 3, 1]
    assert tensor(x).sort(descending=True).indices.tolist() == [1, 2, 3, 0]
    assert np.isnan(gradient(lambda t: t.amax(), leaf(x))).all()


def test_types() -> None:
    ints = torch.tensor([[1, 2], [3, 4]])
    for function in (lambda t: t.sum(), lambda t: t.prod(0), lambda t: t.cumsum(1), lambda t: t.argmax(),
                     lambda t: t.nansum()):
        for t in (ints, ints.to(torch.int8)):
            assert function(t).dtype is torch.int64
    assert (ints > 2).sum().item() == 2
    assert ints.sum(dtype=torch.float32).dtype is torch.float32
    assert ints.mean(dtype=torch.float32).item() == 2.5
    assert ints.logsumexp(0).dtype is torch.float32
    assert ints.softmax(0, dtype=torch.float64).dtype is torch.float64
    assert torch.any(ints.to(torch.uint8)).dtype is torch.uint8
    assert (ints > 0).all().dtype is torch.bool
    with pytest.raises(RuntimeError, match=r"mean\(\): could not infer output dtype.*Got: Long"):
        ints.mean()
    with pytest.raises(RuntimeError, match="std and var only support floating point and complex dtypes"):
        ints.std()
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        ints.softmax(0)


def test_half_precision_accumulates_in_single() -> None:
    many = torch.ones(5000, 2).to(torch.float16)
    assert many.sum(0).tolist() == [5000, 5000]
    assert many.cumsum(0)[-1].tolist() == [5000, 5000]
    assert (many * 30).mean().item() == 30
    assert (many * 30).sum().item() == math.inf


def test_scalars_have_the_dims_0_and_minus_1() -> None:
    t = leaf(3.0)
    for dim in (0, -1, (0,)):
        assert t.sum(dim).shape == ()
    for function in (lambda t: t.max(0)[0], lambda t: t.cumsum(0), lambda t: t.sort(0)[0], lambda t: t.median(-1)[0],
                     lambda t: t.prod(0), lambda t: t.cumprod(-1), lambda t: t.topk(1)[0], lambda t: t.mode()[0],
                     lambda t: t.kthvalue(1)[0], lambda t: t.cummax(0)[0], lambda t: t.amax(0)):
        assert function(t).item() == 3
        assert gradient(function, t).item() == 1
    assert t.softmax(0).item() == 1
    assert t.argmax(0).item() == 0


@pytest.mark.parametrize("call", [lambda x: x.sum(2), lambda x: x.mean(-3), lambda x: x.max(2), lambda x: x.softmax(5),
                                  lambda x: x.cumsum(2), lambda x: x.sort(2), lambda x: x.var((0, 2)),
                                  lambda x: x.norm(dim=2)])
def test_a_dim_that_is_not_there(call: Function) -> None:
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got"):
        call(torch.ones(2, 3))


def test_refusals() -> None:
    x, empty = torch.ones(2, 3), torch.zeros(0, 3)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times in the list of dims"):
        x.sum((0, -2))
    with pytest.raises(TypeError, match=r"'keepdim' \(position 2\) must be bool, not int"):
        x.sum(0, 1)
    with pytest.raises(TypeError, match=r"'dim' \(position 1\) must be tuple of ints, not str"):
        x.amax("a")
    with pytest.raises(TypeError, match="must be Tensor, not float"):
        torch.sum(3.0)
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        torch.argmax([1, 2])
    for call in (empty.max, empty.amax, empty.min):
        with pytest.raises(RuntimeError, match="Expected reduction dim to be specified for input.numel"):
            call()
    for reduce in (empty.max, empty.argmin, empty.amin, empty.median, empty.mode):
        with pytest.raises(IndexError, match="Expected reduction dim 0 to have non-zero size"):
            reduce(0)
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        x.topk(4)
    with pytest.raises(RuntimeError, match="Order nope not supported"):
        x.norm("nope")


def test_what_nothing_reduces_to() -> None:
    empty = torch.zeros(0, 3)
    assert empty.sum().item() == 0
    assert empty.prod().item() == 1
    assert empty.logsumexp(0).tolist() == [-math.inf] * 3
    assert math.isnan(empty.mean().item())
    assert empty.all().item()
    assert not empty.any().item()
    assert empty.amax(1).shape == (0,)
    assert empty.softmax(0).shape == (0, 3)


def test_too_few_elements_for_a_variance_warn() -> None:
    with pytest.warns(UserWarning, match=r"var\(\): degrees of freedom is <= 0"):
        assert math.isnan(torch.tensor([3.0]).var().item())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.tensor([3.0]).var(correction=0)


def test_results_with_names() -> None:
    found = torch.max(torch.tensor([[1.0, 5.0], [5.0, 0.0]]), 0)
    values, indices = found
    assert found.values is values is found[0]
    assert indices.tolist() == [1, 0]
    assert repr(found) == "torch.return_types.max(\nvalues=tensor([5., 5.]),\nindices=tensor([1, 0]))"
    assert isinstance(found, tuple)
    with pytest.raises(TypeError, match="takes a 2-sequence"):
        torch.return_types.max([1])


def test_indices_have_no_gradient() -> None:
    values, indices = leaf([[3.0, 1.0], [2.0, 4.0]]).sort()
    assert values.requires_grad
    assert not indices.requires_grad
    assert values.grad_fn.name() == "SortBackward0"


@pytest.mark.parametrize(("call", "name"), [
    (lambda x: x.sum(), "SumBackward0"), (lambda x: x.sum(0), "SumBackward1"),
    (lambda x: x.sum(dim=None), "SumBackward1"),
    (lambda x: x.mean(), "MeanBackward0"), (lambda x: x.mean(0), "MeanBackward1"),
    (lambda x: x.prod(0), "ProdBackward1"),
    (lambda x: x.max(), "MaxBackward1"), (lambda x: x.max(0)[0], "MaxBackward0"),
    (lambda x: x.norm(), "LinalgVectorNormBackward0"),
    (lambda x: x.median(), "MedianBackward0"), (lambda x: x.sort(stable=True)[0], "SortBackward1"),
    (lambda x: x.softmax(0), "SoftmaxBackward0"), (lambda x: x.log_softmax(0), "LogSoftmaxBackward0")])
def test_names(call: Function, name: str) -> None:
    assert call(leaf([[1.0, 2.0]])).grad_fn.name() == name


def test_a_sum_repeats_its_gradient_without_writing_it_out() -> None:
    x = leaf(np.ones((3, 4)))
    seen = []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.numpy().strides))
    y.sum().backward()
    assert seen == [(0, 0)]
    assert x.grad.numpy().strides == (32, 8)


def test_in_place() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    assert y.cumsum_(0) is y
    assert y.tolist() == [1, 3, 6]
    y.sum().backward()
    assert x.grad.tolist() == [3, 2, 1]


def test_counting() -> None:
    x = torch.tensor([[0, 2], [3, 0]])
    assert x.nonzero().tolist() == [[0, 1], [1, 0]]
    assert [t.tolist() for t in x.nonzero(as_tuple=True)] == [[0, 1], [1, 0]]
    assert x.count_nonzero(0).tolist() == [1, 1]
    assert torch.tensor([1, 1, 3]).bincount().tolist() == [0, 2, 0, 1]
    assert torch.tensor([1, 1, 3]).bincount(torch.tensor([1.0, 0.5, 1e-3]).bfloat16()).dtype is torch.float64
    assert [t.tolist() for t in torch.unique(torch.tensor([3, 1, 3]), return_inverse=True, return_counts=True)] == [
        [1, 3], [1, 0, 1], [1, 2]]
    assert [t.tolist() for t in torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True)] == [
        [1, 2, 1], [2, 1, 1]]
    assert torch.argwhere(torch.tensor(2.0)).shape == (1, 0)


# Properties

matrices = arrays_of.arrays("float64", arrays_of.array_shapes(min_dims=2, max_dims=3, max_side=4),
                            elements=st.integers(-3, 3).map(float))


@given(matrices, st.data())
def test_reductions_over_any_axes_are_numpys(x: np.ndarray[Any, Any], data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, unique_by=lambda a: a % x.ndim))
    keep = data.draw(st.booleans())
    t = tensor(x)
    for ours, theirs in ((t.sum, x.sum), (t.mean, x.mean), (t.amax, x.max), (t.amin, x.min), (t.any, x.any),
                         (t.all, x.all)):
        np.testing.assert_allclose(ours(axes, keep).numpy(), theirs(axis=tuple(axes), keepdims=keep))
    np.testing.assert_allclose(t.var(axes, correction=0, keepdim=keep).numpy(), x.var(axis=tuple(axes), keepdims=keep))
    y = leaf(x)
    np.testing.assert_array_equal(gradient(lambda a: a.sum(axes, keep).sum(), y), np.ones_like(x))


@given(matrices)
def test_softmax_sums_to_one_and_is_blind_to_a_shift(x: np.ndarray[Any, Any]) -> None:
    t = tensor(x)
    np.testing.assert_allclose(t.softmax(1).sum(1).numpy(), np.ones_like(x.sum(1)))
    np.testing.assert_allclose((t + 700).softmax(1).numpy(), t.softmax(1).numpy(), rtol=1e-9)
    np.testing.assert_allclose(t.log_softmax(0).exp().numpy(), t.softmax(0).numpy())
    np.testing.assert_allclose(t.logsumexp(0).numpy(), np.log(np.exp(x).sum(0)))


@given(matrices)
def test_sorting_and_picking_agree(x: np.ndarray[Any, Any]) -> None:
    t = tensor(x)
    values, indices = t.sort(1)
    np.testing.assert_array_equal(values.numpy(), np.sort(x, 1))
    np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), 1), values.numpy())
    n = x.shape[1]
    np.testing.assert_array_equal(t.topk(n, 1)[0].numpy(), values.numpy()[:, ::-1])
    np.testing.assert_array_equal(t.kthvalue(n, 1)[0].numpy(), x.max(1))
    np.testing.assert_array_equal(t.cummax(1)[0].numpy(), np.maximum.accumulate(x, 1))
    np.testing.assert_array_equal(gradient(lambda a: a.sort(1)[0].sum(), leaf(x)), np.ones_like(x))


@pytest.mark.parametrize("shape", [(), (5,), (130,), (2049,), (5000,), (3, 5000), (3, 4096), (2, 3, 4, 500), (0,),
                                   (3, 0), (7000, 1)])
def test_norms_of_any_dims(shape: tuple[int, ...]) -> None:
    """Long rows are squared and added in blocks, in one pass."""
    x = np.random.default_rng(0).standard_normal(shape)
    for count in range(1, len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), count):
            for keepdim in (False, True):
                for dtype, rounding in ((np.float32, 1e-5), (np.float64, 1e-12)):
                    found = torch.linalg.vector_norm(torch.from_numpy(x.astype(dtype)), dim=dims, keepdim=keepdim)
                    expected = np.sqrt(np.square(x).sum(dims, keepdims=keepdim))
                    np.testing.assert_allclose(found.numpy(), expected, rtol=rounding)


@pytest.mark.filterwarnings("ignore:Casting complex")       # once a process, so by chance here
def test_products_of_complex_numbers_in_a_real_type_are_of_their_real_parts() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j, 2 + 0j], dtype=torch.complex128, requires_grad=True)
    real = z.detach().real.clone().requires_grad_()
    for product in (lambda x: torch.prod(x, dtype=torch.float64), lambda x: torch.prod(x, 0, dtype=torch.float64),
                    lambda x: torch.cumprod(x, 0, dtype=torch.float64).sum()):
        found, = torch.autograd.grad(product(z), z)
        expected, = torch.autograd.grad(product(real), real)
        assert found.tolist() == [complex(g) for g in expected.tolist()]


@given(st.integers(2, 300), st.floats(-1e6, 1e6, width=32), st.sampled_from([torch.float32, torch.float64]),
       st.sampled_from([0, 1]), st.booleans())
def test_equal_elements_have_no_variance(count: int, value: float, dtype: torch.dtype, dim: int, of_all: bool) -> None:
    x = torch.full((count, 3) if dim == 0 else (3, count), value, dtype=dtype)
    variance, mean = torch.var_mean(x, correction=1) if of_all else torch.var_mean(x, dim)
    assert torch.equal(variance, torch.zeros_like(variance))
    assert torch.equal(mean, torch.full_like(mean, value))
    assert torch.equal(x.std() if of_all else x.std(dim), torch.zeros_like(variance))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("count", [2, 10, 64, 65, 1000])
def test_the_variance_of_numbers_that_are_close_has_all_digits(count: int, dtype: torch.dtype) -> None:
    for step in (1, 3, 1000):                              # in units in the last place of 100
        x = 100 + torch.arange(count, dtype=dtype) * step * torch.finfo(dtype).eps * 64
        exact = np.array([Fraction(number) for number in x.tolist()])
        mean = exact.sum() / count
        expected = ((exact - mean) ** 2).sum() / (count - 1)
        for variance, found in (torch.var_mean(x), torch.var_mean(torch.stack([x, -x], 1), 0)):
            assert float(abs(Fraction(variance.max().item()) - expected) / expected) < 4 * torch.finfo(dtype).eps
            assert abs(found.max().item() - float(mean)) <= 256 * torch.finfo(dtype).eps
