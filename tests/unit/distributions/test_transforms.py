"""Transforms: inverses, determinants of Jacobians, regions, caches, copies, and the registry of constraints."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import pytest

import retrograd as torch
from comparing import transform_calls as calls
from comparing.distribution_calls import Made, lines
from retrograd import distributions as dist
from retrograd.distributions import constraints
from retrograd.distributions.constraint_registry import ConstraintRegistry

ROWS = lines("""
AbsTransform() | p([0.5, -2.0])
AffineTransform(1.0, -2.0) | p([0.5, -2.0])
AffineTransform(p([1.0, 2.0]), p([-2.0, 0.5]), event_dim=1) | p([[0.5, -2.0], [1.0, 3.0]])
ExpTransform() | p([0.5, -2.0])
PowerTransform(p([0.5, -2.0])) | p([0.5, 3.0])
SigmoidTransform() | p([0.5, -2.0])
SoftplusTransform() | p([0.5, -2.0])
TanhTransform(cache_size=1) | p([0.5, -2.0])
SoftmaxTransform() | p([[0.5, -2.0, 0.0], [1.0, 2.0, 3.0]])
StickBreakingTransform() | p([[0.5, -2.0, 0.0], [1.0, 0.5, -1.0]])
LowerCholeskyTransform() | p([[0.5, -2.0], [0.25, 1.0]])
PositiveDefiniteTransform() | p([[[0.5, -2.0], [0.25, 1.0]]])
CorrCholeskyTransform() | p([[0.5, -2.0, 0.25]])
ReshapeTransform((2, 3), (6,)) | p([[[0.5, -2.0, 0.25], [1.0, 2.0, 3.0]]])
CumulativeDistributionTransform(Normal(p(0.5), 2.0)) | p([0.5, -2.0])
IndependentTransform(ExpTransform(), 1) | p([[0.5, -2.0]])
ComposeTransform([AffineTransform(p(1.0), 2.0), TanhTransform(), AffineTransform(0.0, -3.0)]) | p([0.5, -1.0])
ComposeTransform([ExpTransform(), StickBreakingTransform(), SigmoidTransform().inv]) | p([[0.5, -2.0]])
identity_transform | p([0.5])
ExpTransform().inv | p([0.5, 2.0])
CatTransform([ExpTransform(), AffineTransform(0.0, 2.0)], dim=-1, lengths=[1, 2]) | p([[0.5, -2.0, 1.0]])
StackTransform([ExpTransform(), AffineTransform(0.0, 2.0), TanhTransform()], dim=1) | p([[0.5, -2.0, 0.25]])
""")


def made(line: str) -> tuple[Any, Any]:
    transform, value = calls.split(line)
    found: tuple[Any, Any] = Made(torch, f"({transform}, {value})").value
    return found[0], found[1].detach().double()


@pytest.mark.parametrize("line", ROWS)
def test_inverses_and_regions(line: str) -> None:
    transform, x = made(line)
    y = transform(x)
    assert transform.domain.check(x).all()
    assert transform.codomain.check(y).all()
    if transform.bijective:
        torch.testing.assert_close(transform.inv(y.clone()), x, rtol=1e-6, atol=1e-6)
    assert tuple(transform.forward_shape(x.shape)) == tuple(y.shape)
    assert tuple(transform.inverse_shape(y.shape)) == tuple(x.shape)


def _coordinates(y: Any, constraint: Any) -> Any:
    """As many numbers of a result as it has degrees of freedom: those off the diagonal, or all but the last."""
    if isinstance(constraint, type(constraints.corr_cholesky)):
        return dist.utils.tril_matrix_to_vec(y, diag=-1)
    return y[..., :-1] if isinstance(constraint, type(constraints.simplex)) else y


@pytest.mark.parametrize("line", [
    "AffineTransform(1.0, -2.0) | p(0.5)", "AffineTransform(1.0, p([-2.0, 3.0]), event_dim=1) | p([0.5, 1.0])",
    "ExpTransform() | p(0.5)", "PowerTransform(-2.5) | p(0.5)", "SigmoidTransform() | p(0.5)",
    "SoftplusTransform() | p(0.5)", "TanhTransform() | p(0.5)",
    "CumulativeDistributionTransform(Laplace(0, 1)) | p(0.5)",
    "StickBreakingTransform() | p([0.5, -2.0, 0.25])", "CorrCholeskyTransform() | p([0.5, -2.0, 0.25])",
    "ReshapeTransform((2,), (2, 1)) | p([0.5, 1.0])", "IndependentTransform(TanhTransform(), 1) | p([0.5, 1.0])",
    "ComposeTransform([ExpTransform(), StickBreakingTransform()]) | p([0.5, 1.0])",
    "ComposeTransform([ExpTransform(), AffineTransform(0.0, 3.0)]).inv | p(0.5)"])
def test_the_jacobian(line: str) -> None:
    """The determinant of the matrix of derivatives, which autograd computes, in as many coordinates as are free."""
    transform, x = made(line)
    matrix = torch.autograd.functional.jacobian(
        lambda x: _coordinates(transform(x), transform.codomain).reshape(x.shape), x)
    expected = torch.linalg.slogdet(matrix.reshape(max(x.numel(), 1), -1)).logabsdet
    torch.testing.assert_close(transform.log_abs_det_jacobian(x, transform(x)).double(), expected)


@pytest.mark.parametrize(("name", "size"), [
    ("positive", (3,)), ("nonnegative", (3,)), ("unit_interval", (3,)), ("real", (3,)), ("real_vector", (3,)),
    ("simplex", (3,)), ("corr_cholesky", (6,)), ("lower_cholesky", (3, 3)), ("positive_definite", (3, 3)),
    ("positive_semidefinite", (3, 3))])
def test_transforms_of_the_registry_reach_their_regions(name: str, size: tuple[int, ...]) -> None:
    constraint = getattr(constraints, name)
    numbers = torch.linspace(-2.0, 1.5, torch.Size(size).numel(), dtype=torch.float64).reshape(size)
    assert constraint.check(dist.transform_to(constraint)(numbers)).all()
    if name not in ("lower_cholesky", "positive_definite", "positive_semidefinite"):
        bijection = dist.biject_to(constraint)
        assert bijection.bijective
        torch.testing.assert_close(bijection.inv(bijection(numbers)), numbers, rtol=1e-9, atol=1e-9)


def test_optimizing_under_a_constraint() -> None:
    """The textbook use: free numbers are optimized, and their transform is the parameter."""
    free = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.Adam([free], lr=0.1)
    data = torch.tensor([0.5, 1.0, 4.5])
    to_positive = dist.transform_to(dist.Exponential.arg_constraints["rate"])
    for _ in range(200):
        optimizer.zero_grad()
        loss = -dist.Exponential(to_positive(free)).log_prob(data).mean()
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(to_positive(free), torch.tensor(0.5), rtol=1e-3, atol=0.0)


class Cube(dist.Transform):
    """A user's transform."""

    domain = constraints.real
    codomain = constraints.real
    bijective = True
    sign = 1

    def _call(self, x: torch.Tensor) -> torch.Tensor:
        return x**3

    def _inverse(self, y: torch.Tensor) -> torch.Tensor:
        return y.sign() * y.abs() ** (1 / 3)

    def log_abs_det_jacobian(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (3 * x**2).log()


def test_a_transform_of_a_user() -> None:
    d = dist.TransformedDistribution(dist.Uniform(0.0, 2.0), Cube())
    value = torch.tensor([1.0, 8.0 / 27.0])
    torch.testing.assert_close(d.log_prob(value).exp(), value ** (-2 / 3) / 6)
    torch.testing.assert_close(d.cdf(value), torch.tensor([0.5, 1.0 / 3.0]))
    cached = Cube().with_cache()
    x = torch.tensor([-2.0])
    assert cached.inv(cached(x)) is x
    assert cached == cached
    assert cached != Cube()


class Even(constraints.Constraint):
    """A user's constraint."""

    is_discrete = True

    def check(self, value: torch.Tensor) -> torch.Tensor:
        return value % 2 == 0


def test_a_constraint_of_a_user() -> None:
    registry = ConstraintRegistry()

    @registry.register(Even)
    def _doubled(constraint: Even) -> Any:
        return dist.AffineTransform(0, 2)

    assert registry(Even())(torch.tensor([1, 2])).tolist() == [2, 4]
    assert constraints.independent(Even(), 1).check(torch.tensor([[1, 2], [2, 4]])).tolist() == [False, True]
    with pytest.raises(NotImplementedError, match="^Cannot transform Even constraints$"):
        dist.biject_to(Even())


def test_the_cache_keeps_the_latest_pair() -> None:
    transform = dist.TanhTransform(cache_size=1)
    x = torch.tensor([0.5, 20.0])
    y = transform(x)
    assert y[1] == 1.0
    assert transform.inv(y) is x
    transform(torch.zeros(2))
    assert torch.isinf(transform.inv(y)[1])
    assert transform(transform.inv(y)) is y


@pytest.mark.usefixtures("no_collector")
def test_transforms_and_their_inverses_make_no_cycles() -> None:
    transforms = [dist.ExpTransform(), dist.ComposeTransform([dist.ExpTransform()])]
    dead = [weakref.ref(transform.inv) for transform in transforms]
    assert [found() for found in dead] == [None, None]
    kept = [transform.inv for transform in transforms]
    assert all(transform.inv is inverse for transform, inverse in zip(transforms, kept))
    dead = [weakref.ref(transform) for transform in (*transforms, *kept)]
    del transforms, kept
    assert [found() for found in dead] == [None] * 4


@pytest.mark.parametrize("line", ROWS)
def test_copies(line: str) -> None:
    transform, x = made(line)
    kept = transform.inv                              # a copy must not need the weak reference to it
    for other in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        torch.testing.assert_close(other(x), transform(x))
        assert repr(other) == repr(transform)
    assert kept is transform.inv


def test_triangles_as_vectors() -> None:
    matrix = torch.arange(1.0, 10.0).reshape(3, 3)
    utils = dist.utils
    assert utils.tril_matrix_to_vec(matrix).tolist() == [1, 4, 5, 7, 8, 9]
    assert utils.tril_matrix_to_vec(matrix, -1).tolist() == [4, 7, 8]
    for diag in (-2, -1, 0, 1):
        kept = matrix.tril(diag)
        torch.testing.assert_close(utils.vec_to_tril_matrix(utils.tril_matrix_to_vec(matrix, diag), diag), kept)


def test_probabilities_and_logits() -> None:
    probs = torch.tensor([0.0, 0.25, 1.0])
    utils = dist.utils
    eps = torch.finfo(torch.float32).eps
    assert utils.clamp_probs(probs).tolist() == [eps, 0.25, 1 - eps]
    torch.testing.assert_close(utils.logits_to_probs(utils.probs_to_logits(probs, is_binary=True), is_binary=True),
                               probs, rtol=1e-6, atol=2e-7)
    torch.testing.assert_close(utils.logits_to_probs(utils.probs_to_logits(probs)), probs / 1.25, rtol=1e-6, atol=2e-7)
