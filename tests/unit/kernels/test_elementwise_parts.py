"""Elementwise functions of large arrays run in parts, and gradients of large arrays meet in place: the bits stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.elementwise import parts
from retrograd.kernels.native import threads
from retrograd.kernels.thresholds import FORMULA_BLOCK, PAIRS, PARTS

SIZE = max(3 * FORMULA_BLOCK, PAIRS) + 17
NAMES = sorted(ufunc.__name__ for ufunc in parts._COSTS)
METHODS = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
           "arctanh": "atanh"}
Run = Callable[[], list[Any]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of parts of each piece of work, which may be of any size."""
    found: list[int] = []
    original = threads.in_parts

    def counted(work: threads.Work, length: int, cost: float) -> None:
        ranges: list[int] = []
        original(lambda start, stop: (ranges.append(start), work(start, stop)), length, cost)
        found.append(len(ranges))

    monkeypatch.setattr(threads, "ENOUGH", 1)
    monkeypatch.setattr(threads, "in_parts", counted)
    return found


@pytest.fixture(autouse=True)
def by_numpy() -> Iterator[None]:
    """No machine code in place of the kernels that are tested here."""
    with torch.backends.native.flags(enabled=False):
        yield


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = threads.available()
    yield
    threads.use(before)


def with_threads(count: int, run: Run) -> list[bytes]:
    """The bits of the results. All nan count as the same: the sign of a product of two nan is that of either."""
    threads.use(count)
    results = [tensor.detach().numpy() for tensor in run()]
    return [np.where(np.isnan(values), np.asarray(np.nan, values.dtype), values).tobytes() for values in results]


def inputs(dtype: Any, *shape: int) -> Any:
    """Numbers of all sizes, some of them not finite."""
    draws = np.random.default_rng(0)
    x = draws.standard_normal(shape) * 10.0 ** draws.integers(-6, 6, shape)
    x.reshape(-1)[::97] = np.resize([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0], len(x.reshape(-1)[::97]))
    return torch.tensor(x, dtype=dtype)


def method(name: str) -> Callable[[Any], Any]:
    return methodcaller(METHODS.get(name, name))


def there_and_back(function: Callable[[Any], Any], x: Any, cotangent: Any) -> Run:
    def run() -> list[Any]:
        leaf = x.detach().requires_grad_()
        y = function(leaf)
        return [y, *torch.autograd.grad(y, leaf, cotangent)]

    return run


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(2)
def test_parts_have_the_bits_of_the_whole(name: str, dtype: Any, calls: list[int]) -> None:
    run = there_and_back(method(name), inputs(dtype, SIZE), inputs(dtype, SIZE) + 1)
    calls.clear()                                             # of the sum
    assert with_threads(3, run) == with_threads(1, run)
    (kernel,) = [kernel for kernel in parts._COSTS if kernel.__name__ == name]
    assert calls == [3] * (1 + (kernel in parts._RULES or kernel in parts._SINGLE))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("repeated", [False, True])
def test_gradients_of_products_that_meet(repeated: bool, dtype: Any, calls: list[int]) -> None:
    """The cotangent may be one number, repeated, as that of a sum."""
    x, y = inputs(dtype, 4, SIZE // 4), inputs(dtype, 4, SIZE // 4) + 1
    cotangent = torch.tensor(0.3, dtype=dtype).expand(x.shape) if repeated else inputs(dtype, 4, SIZE // 4) * 3
    run = there_and_back(lambda leaf: leaf * y + leaf * leaf + y * 2, x, cotangent)
    calls.clear()
    assert with_threads(3, run) == with_threads(1, run)
    assert calls == [3] * 10                  # three products and two sums; three products and two sums of gradients


@pytest.mark.parametrize("case", ["number", "other type"])
def test_products_with_what_does_not_lie_alike(case: str, calls: list[int]) -> None:
    """A product with a number is in parts, and so are the sum and the product of the rule. The cotangent belongs to the
    caller, so no sum is written to it.

    With double precision, the operands are converted first, and NumPy computes. The product of the rule is in parts,
    and so is the sum of what it is converted to.
    """
    y = torch.tensor(3.0) if case == "number" else inputs(torch.float64, SIZE)
    cotangent = torch.ones(SIZE, dtype=y.dtype)
    run = there_and_back(lambda leaf: leaf * y + leaf, inputs(torch.float32, SIZE), cotangent)
    assert with_threads(3, run) == with_threads(1, run)
    assert calls == ([3, 3, 3] if case == "number" else [3, 3])
    assert (cotangent == 1).all()


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu, tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "softplus, options": lambda x: torch.nn.functional.softplus(x, 2.0, 1.5),
    "elu, options": lambda x: torch.nn.functional.elu(x, 0.7),
    **{name: getattr(torch.nn.functional, name) for name in ("silu", "mish", "gelu", "softplus", "elu", "logsigmoid")}}


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.sampled(3)
def test_blocks_of_formulas_have_the_bits_of_the_whole(name: str, dtype: Any, calls: list[int],
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """On three threads, and on one thread where the arrays are very large."""
    run = there_and_back(ACTIVATIONS[name], inputs(dtype, SIZE), inputs(dtype, SIZE) + 1)
    calls.clear()
    expected = with_threads(1, run)
    assert calls == []
    assert with_threads(3, run) == expected
    least = 1 + (dtype is not torch.float16)                  # a rule may call another such kernel inside its blocks
    assert calls.count(3) >= least
    calls.clear()
    monkeypatch.setattr(parts, "FORMULA_FAR_BYTES", 1)
    assert with_threads(1, run) == expected
    assert {*calls} == {1}
    assert len(calls) >= least


@pytest.mark.parametrize("case", ["few", "half precision", "complex", "transposed", "repeated cotangent", "steps"])
def test_what_does_not_lie_alike_is_computed_as_a_whole(case: str, calls: list[int]) -> None:
    shape = (PARTS // 4 - 1, 4) if case == "few" else (PARTS // 2, 4)
    x, g = inputs(torch.float32, *shape), inputs(torch.float32, *shape)
    if case in ("half precision", "complex"):
        x, g = (t.to(torch.float16 if case == "half precision" else torch.complex64) for t in (x, g))
    elif case == "repeated cotangent":
        g = g[:1].expand(shape)
    elif case in ("transposed", "steps"):
        x, g = (t.T if case == "transposed" else t[::2] for t in (x, g))
    run = there_and_back(method("sin"), x, g)
    assert with_threads(3, run) == with_threads(1, run)
    assert len(calls) == (1 if case == "repeated cotangent" else 0)


def test_small_work_is_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "in_parts", None)            # a call would raise
    threads.use(2)
    x = torch.ones(2 * PARTS, requires_grad=True)
    x.exp().sum().backward()
    assert torch.equal(x.grad, x.detach().exp())


def test_floating_point_errors_are_as_silent_as_ever(calls: list[int]) -> None:
    """The parts run in the context of the call, without warnings, and the caller's own settings stay."""
    threads.use(3)
    with np.errstate(all="raise"):
        found = torch.log(torch.zeros(PARTS))
        assert np.geterr()["divide"] == "raise"
    assert calls == [3]
    assert (found == -torch.inf).all()


# Gradients that meet


def mixed(x: Any) -> Any:
    """A value to which x leads in several ways: two gradients that are new, one that is shared, and a view."""
    return x.sin() * x + x.exp() - x + x.view(-1).flip(0) * 2


@pytest.mark.parametrize("size", [50, PARTS])
def test_gradients_that_meet_add_up(size: int) -> None:
    x = torch.linspace(-2, 2, size, dtype=torch.float64, requires_grad=True)
    cotangent = torch.linspace(1, 2, size, dtype=torch.float64)
    mixed(x).backward(cotangent)
    expected = cotangent * (x.cos() * x + x.sin() + x.exp() - 1) + 2 * cotangent.flip(0)
    torch.testing.assert_close(x.grad, expected.detach(), rtol=1e-12, atol=1e-12)


def test_gradients_that_somebody_holds_are_not_written_to() -> None:
    """A hook, the caller and a saved value each hold an array that arrives first at a value with two gradients."""
    size = PARTS
    leaf = torch.ones(size, requires_grad=True)
    x = leaf * 2
    seen: list[Any] = []
    twice, thrice = x * 2, x * 3
    thrice.register_hook(seen.append)
    weight = torch.full((size,), 5.0)
    weighted = x * weight
    cotangent = torch.ones(size)
    torch.autograd.backward([twice, thrice, x, weighted], [cotangent, cotangent, cotangent, cotangent])
    assert torch.equal(leaf.grad, torch.full((size,), 22.0))
    assert (cotangent == 1).all()
    assert (weight == 5).all()
    assert [(g == 1).all().item() for g in seen] == [True]


@pytest.mark.parametrize("shape", [(3,), (PARTS // 8, 8)], ids=str)
def test_the_copy_of_a_shared_gradient_counts_as_one_write(shape: tuple[int, ...]) -> None:
    """As in PyTorch. The second copy is of a gradient that repeats one number in each row."""
    x, y = (torch.ones(shape, requires_grad=True) for _ in range(2))
    (x + y).sum(-1).backward(torch.ones(shape[:-1]))
    assert (x.grad._version, y.grad._version) == (1, 1)
    x.grad.add_(1)
    assert (x.grad._version, y.grad._version) == (2, 1)
    assert (y.grad == 1).all()


def test_retained_and_captured_gradients_stay_apart() -> None:
    size = PARTS
    leaf = torch.ones(size, requires_grad=True)
    x = leaf * 2
    x.retain_grad()
    y = x * 3 + x * 4 + x
    found = torch.autograd.grad(y, [x, leaf], torch.ones(size), retain_graph=True)
    x.grad = None
    y.backward(torch.ones(size))
    assert [(g == value).all().item() for g, value in zip((*found, x.grad, leaf.grad), (8, 16, 8, 16))] == [True] * 4
