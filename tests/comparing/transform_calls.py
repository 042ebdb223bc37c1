"""Transforms and constraints to compare: how each is made, values to give it, and everything that a program can ask.

A line is a transform, or a constraint, in Python, a `|`, and a value. The names are those of `distribution_calls`. A
line of WRONG raises an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from comparing.distribution_calls import Made

TRANSFORMS = """
AbsTransform() | p([0.5, -2.0, 0.0])
AffineTransform(1.0, -2.0) | p([[0.5, -2.0]])
AffineTransform(1.0, -2.0, event_dim=1) | p([[0.5, -2.0], [1.0, 3.0]])
AffineTransform(p([1.0, 2.0]), p([-2.0, 0.5]), event_dim=1) | p([[0.5, -2.0], [1.0, 3.0]])
AffineTransform(0, p(3.0)) | p([0.5, -2.0], f64)
ExpTransform() | p([0.5, -2.0, 100.0])
PowerTransform(p([0.5, -2.0])) | p([[0.5], [3.0]])
PowerTransform(2) | p([0.5, 3.0], f64)
SigmoidTransform() | p([0.5, -200.0, 200.0, 3.0])
SoftplusTransform() | p([0.5, -20.0, 30.0])
TanhTransform() | p([0.5, -2.0, 0.0])
SoftmaxTransform() | p([[0.5, -2.0, 0.0], [1.0, 2.0, 3.0]])
StickBreakingTransform() | p([[0.5, -2.0, 0.0], [1.0, 0.5, -1.0]])
StickBreakingTransform() | p([0.5, -2.0, 0.0], f64)
LowerCholeskyTransform() | p([[0.5, -2.0], [0.25, 1.0]])
PositiveDefiniteTransform() | p([[[0.5, -2.0], [0.25, 1.0]]])
CorrCholeskyTransform() | p([[0.5, -2.0, 0.25]])
CorrCholeskyTransform() | p([0.5, -2.0, 0.25, 1.0, 0.0, -0.5], f64)
CorrCholeskyTransform() | p([[0.5, -2.0]])
ReshapeTransform((2, 3), (6,)) | p([[[0.5, -2.0, 0.25], [1.0, 2.0, 3.0]]])
CumulativeDistributionTransform(Normal(p(0.5), 2.0)) | p([0.5, -2.0])
IndependentTransform(ExpTransform(), 1) | p([[0.5, -2.0]])
IndependentTransform(ExpTransform(), 2) | p([0.5, -2.0])
ComposeTransform([AffineTransform(p(1.0), 2.0), TanhTransform(), AffineTransform(0.0, -3.0)]) | p([0.5, -2.0])
ComposeTransform([ExpTransform(), SoftmaxTransform()]) | p([[0.5, -2.0]])
ComposeTransform([ExpTransform(), StickBreakingTransform(), SigmoidTransform().inv]) | p([[0.5, -2.0]])
ComposeTransform([ReshapeTransform((2,), (2, 1)), ExpTransform()]) | p([[0.5, -2.0]])
ComposeTransform([]) | p([0.5])
identity_transform | p([0.5])
ExpTransform().inv | p([0.5, 2.0])
StickBreakingTransform().inv | p([0.5, 0.25, 0.25])
ComposeTransform([AffineTransform(p(1.0), 2.0), ExpTransform()]).inv | p([0.5, 2.0])
CatTransform([ExpTransform(), AffineTransform(0.0, 2.0)], dim=-1, lengths=[1, 2]) | p([[0.5, -2.0, 1.0]])
CatTransform([ExpTransform(), TanhTransform()]) | p([[0.5, -2.0, 1.0], [1.0, 2.0, 3.0]])
CatTransform([IndependentTransform(ExpTransform(), 1), AffineTransform(0.0, 2.0)], dim=0) | p([[0.5, -2.0], [1.0, 2.0]])
CatTransform([SoftmaxTransform(), ExpTransform()], dim=1, lengths=[2, 1]) | p([[0.5, -2.0, 1.0]])
CatTransform([IndependentTransform(ExpTransform(), 1), AffineTransform(0.0, 2.0)], dim=1, lengths=[2, 1]) | \
p([[0.5, -2.0, 1.0]])
StackTransform([ExpTransform(), AffineTransform(0.0, 2.0), TanhTransform()], dim=1) | p([[0.5, -2.0, 0.25]])
StackTransform([ExpTransform(), AffineTransform(0.0, 2.0)], dim=-1) | p([[0.5, -2.0, 0.25]])
ExpTransform(cache_size=1) | p([0.5, 2.0])
TanhTransform(cache_size=1) | p([0.5, 20.0])
ComposeTransform([AffineTransform(p(1.0), 2.0), TanhTransform()], cache_size=1) | p([0.5, 20.0])
StackTransform([ExpTransform(), TanhTransform()], cache_size=1) | p([0.5, 20.0])
CatTransform([ExpTransform(), TanhTransform()], cache_size=1) | p([0.5, 20.0])
biject_to(constraints.real) | p([0.5])
biject_to(constraints.positive) | p([0.5])
transform_to(constraints.nonnegative) | p([0.5])
transform_to(constraints.greater_than(t([1.0, 2.0]))) | p([0.5, -2.0])
transform_to(constraints.less_than(2.0)) | p([0.5, -2.0])
biject_to(constraints.unit_interval) | p([0.5, -2.0])
biject_to(constraints.interval(-1.0, t(2.0))) | p([0.5, -2.0])
biject_to(constraints.half_open_interval(-1, 1)) | p([0.5, -2.0])
biject_to(constraints.simplex) | p([0.5, -2.0])
transform_to(constraints.simplex) | p([0.5, -2.0])
transform_to(constraints.lower_cholesky) | p([[0.5, -2.0], [0.25, 1.0]])
transform_to(constraints.positive_definite) | p([[0.5, -2.0], [0.25, 1.0]])
transform_to(constraints.positive_semidefinite) | p([[0.5, -2.0], [0.25, 1.0]])
biject_to(constraints.corr_cholesky) | p([0.5, -2.0, 0.25])
biject_to(constraints.real_vector) | p([0.5, -2.0])
biject_to(constraints.independent(constraints.positive, 1)) | p([0.5, -2.0])
biject_to(constraints.cat([constraints.positive, constraints.real], 0, [1, 2])) | p([0.5, -2.0, 0.25])
transform_to(constraints.stack([constraints.positive, constraints.simplex], 0)) | p([[0.5, -2.0], [0.25, 1.0]])
biject_to(Uniform(-1.0, t([1.0, 2.0])).support) | p([0.5, -2.0])
biject_to(HalfNormal(1.0).support) | p([0.5, -2.0])
"""

CONSTRAINTS = """
constraints.boolean | t([0.0, 1.0, 2.0, 0.5])
constraints.one_hot | t([[0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 2, 0]])
constraints.integer_interval(0, 3) | t([0.5, 3.0, 4.0, -1.0])
constraints.integer_interval(t([0, 1]), 3) | t([[0, 0], [3, 4]])
constraints.nonnegative_integer | t([0.5, 3.0, -1.0, 0.0])
constraints.positive_integer | t([0, 1, -1])
constraints._IntegerLessThan(2) | t([0.5, 3.0, 2.0])
constraints.real | t([0.0, float("inf"), float("nan")])
constraints.real_vector | t([[0.0, 1.0], [0.0, float("nan")]])
constraints.positive | t([0.0, 1.0, -1.0, float("nan")])
constraints.nonnegative | t([0.0, 1.0, -1.0, float("nan")])
constraints.greater_than(t([0.0, 1.0])) | t([1.0, 1.0])
constraints.greater_than_eq(1) | t([0, 1])
constraints.less_than(2.0) | t([1.0, 2.0])
constraints.unit_interval | t([0.0, 0.5, 1.0, 1.5, float("nan")])
constraints.interval(t([0.0, 1.0]), 2.0) | t([0.0, 0.5])
constraints.half_open_interval(0.0, 1.0) | t([0.0, 1.0])
constraints.simplex | t([[0.5, 0.5], [0.5, 0.51], [1.5, -0.5], [0.5, 0.5000005]])
constraints.multinomial(3) | t([[1, 2], [3, 1], [-1, 2], [0, 0]])
constraints.lower_triangular | t([[[1.0, 0.0], [2.0, -3.0]], [[1.0, 0.5], [2.0, 3.0]]])
constraints.lower_cholesky | t([[[1.0, 0.0], [2.0, -3.0]], [[1.0, 0.0], [2.0, 3.0]]])
constraints.corr_cholesky | t([[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [2.0, 3.0]]])
constraints.square | torch.zeros(2, 3, 3)
constraints.square | torch.zeros(2, 3, 2)
constraints.symmetric | t([[[1.0, 2.0], [2.0, 3.0]], [[1.0, 2.0], [2.1, 3.0]]])
constraints.symmetric | torch.zeros(2, 3, 2)
constraints.positive_semidefinite | t([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]], dtype=f64)
constraints.positive_definite | t([[[1.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
constraints.positive_definite | t([[1.0, 0.5], [0.4, 1.0]])
constraints.independent(constraints.positive, 2) | torch.ones(4, 2, 3)
constraints.independent(constraints.positive, 1) | t(1.0)
constraints.MixtureSameFamilyConstraint(constraints.positive) | t([[1.0, -1.0], [2.0, 3.0]])
constraints.MixtureSameFamilyConstraint(constraints.simplex) | t([[0.5, 0.5], [2.0, 3.0]])
constraints.cat([constraints.positive, constraints.real], 0, [2, 1]) | t([1.0, -2.0, -3.0])
constraints.cat([constraints.positive, constraints.boolean], -1) | t([[1.0, 1.0], [-2.0, 0.5]])
constraints.cat([constraints.positive, constraints.real], 2) | t([1.0, -2.0])
constraints.stack([constraints.positive, constraints.boolean], 1) | t([[1.0, 1.0], [-2.0, 0.5]])
constraints.stack([constraints.positive, constraints.simplex], 0) | t([[1.0, 1.0], [0.5, 0.5]])
constraints.stack([constraints.positive, constraints.simplex], -2) | t([[1.0, 1.0], [0.5, 0.5]])
constraints.dependent | t(1.0)
constraints.dependent(is_discrete=True) | t(1.0)
constraints.dependent(event_dim=1)(is_discrete=False) | t(1.0)
Uniform.support | t(1.0)
Uniform(0.0, t([1.0, 2.0])).support | t(1.5)
"""

WRONG = """
ExpTransform(cache_size=2)
ReshapeTransform((2, 3), (5,))
ReshapeTransform((2, 3), (6,)).forward_shape((3,))
ReshapeTransform((2, 3), (6,)).forward_shape((4, 3))
ReshapeTransform((2, 3), (6,)).inverse_shape(torch.Size([2, 5]))
CatTransform([ExpTransform(), 3])
CatTransform([ExpTransform()], lengths=[1, 2])
CatTransform([ExpTransform()])(torch.ones(2))
CatTransform([ExpTransform()], dim=1)(torch.ones(2))
CatTransform([ExpTransform()]).log_abs_det_jacobian(torch.ones(1), torch.ones(2))
CatTransform([ExpTransform()], dim=1).log_abs_det_jacobian(torch.ones(1, 1), torch.ones(2))
StackTransform([ExpTransform(), 3])
StackTransform([ExpTransform()])(torch.ones(2))
StackTransform([ExpTransform()], dim=1).inv(torch.ones(2))
StackTransform([ExpTransform()]).log_abs_det_jacobian(torch.ones(1), torch.ones(2))
StickBreakingTransform().forward_shape(())
SoftmaxTransform().inverse_shape(())
CorrCholeskyTransform().forward_shape((4,))
CorrCholeskyTransform().forward_shape(())
CorrCholeskyTransform().inverse_shape((4,))
CorrCholeskyTransform().inverse_shape((4, 3))
CorrCholeskyTransform()(torch.ones(4))
type("Mine", (Transform,), {"__init__": lambda self: Transform.__init__(self)})().with_cache()
biject_to(constraints.boolean)
biject_to(3)
transform_to.register(3, ExpTransform)
biject_to(constraints.lower_cholesky)
hash(ExpTransform())
constraints.independent(3, 1)
constraints.independent(constraints.real, 1.0)
constraints.independent(constraints.real, -1)
constraints.MixtureSameFamilyConstraint(3)
constraints.cat([constraints.real, 3])
constraints.cat([constraints.real], lengths=[1, 2])
constraints.stack([3])
constraints.dependent_property().event_dim
torch.distributions.utils.broadcast_all(1, "a")
torch.distributions.utils.tril_matrix_to_vec(torch.ones(2, 2), 2)
torch.distributions.utils.vec_to_tril_matrix(torch.ones(4))
torch.distributions.Norml
"""


def split(line: str) -> tuple[str, str]:
    """What a line makes, and the value for it."""
    made, _, value = line.partition(" | ")
    return made, value


def outcomes_of_transform(library: Any, line: str) -> dict[str, Any]:
    """What a program sees of the transform that a line makes."""
    made = Made(library, "({}, {})".format(*split(line)))
    transform, x = made.value
    ask = made.ask
    for name in ("bijective", "sign", "event_dim", "_cache_size"):
        ask(name, lambda name=name: getattr(transform, name))
    for name in ("domain", "codomain"):
        ask(name, lambda name=name: _described(getattr(transform, name)))
    ask("repr", lambda: repr(transform))
    ask("repr of the inverse", lambda: repr(transform.inv))
    y = ask("result", lambda: transform(x))
    if y is not None:
        ask("logarithm", lambda: transform.log_abs_det_jacobian(x, y))
        ask("the same argument", lambda: transform.inv(y) is x)
        other = y.detach().clone()
        back = ask("inverse", lambda: transform.inv(other))
        ask("logarithm of the inverse", lambda: transform.inv.log_abs_det_jacobian(other, back))
        ask("the same result", lambda: transform(back) is other)
    for shape in ((), (3,), (5, 3), (4, 3, 3), (2, 4, 3, 3), (2, 3), (1, 6), x.shape):
        ask(f"forward shape {tuple(shape)}", lambda shape=shape: _sizes(transform.forward_shape(shape)))
        ask(f"inverse shape {tuple(shape)}", lambda shape=shape: _sizes(transform.inverse_shape(shape)))
    ask("inverses", lambda: (transform.inv.inv is transform, transform.inv is transform.inv,
                             transform.inv == transform.inv, transform.inv == transform, transform != transform.inv))
    again = Made(library, split(line)[0]).value
    ask("equal", lambda: (transform == again, transform.inv == again.inv, transform != again, transform == 3))
    ask("cached", lambda: _of_cached(transform.with_cache(), x))
    ask("class", lambda: type(transform).__name__)
    return made.found


def _of_cached(transform: Any, x: Any) -> list[Any]:
    y = transform(x)
    return [repr(transform), transform._cache_size, transform(x) is y, transform.inv(y) is x,
            transform.with_cache() is transform, transform.with_cache(0)._cache_size]


def _sizes(shape: Any) -> tuple[str, list[int]]:
    return type(shape).__name__, [*shape]


def _described(constraint: Any) -> tuple[Any, ...]:
    return repr(constraint), constraint.event_dim, constraint.is_discrete


def outcomes_of_constraint(library: Any, line: str) -> dict[str, Any]:
    """What a program sees of the constraint that a line makes."""
    made = Made(library, "({}, {})".format(*split(line)))
    constraint, value = made.value
    questions: dict[str, Callable[[], Any]] = {
        "repr": lambda: repr(constraint), "check": lambda: constraint.check(value),
        "event_dim": lambda: constraint.event_dim, "is_discrete": lambda: constraint.is_discrete,
        "is_dependent": lambda: library.distributions.constraints.is_dependent(constraint),
        "class": lambda: type(constraint).__name__}
    for name, question in questions.items():
        made.ask(name, question)
    return made.found
