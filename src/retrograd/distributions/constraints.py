"""Constraints: which values a parameter or a sample may have. Each names the region and checks values against it.

`check` treats the last `event_dim` dimensions of a value as one point of the region, and gives one bool for each point.
"""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor

from ..foundations.inherited import name_inherited
from .constraint import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    _Stack,
    is_dependent,
)

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]


class _Bounded(Constraint):
    """A region given by bounds, which its repr shows."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __repr__(self) -> str:
        names = [name for name in ("lower_bound", "upper_bound") if name in vars(self)]
        return f"{type(self).__name__[1:]}({', '.join(f'{name}={vars(self)[name]}' for name in names)})"


class _Below(_Bounded):
    """A region with an upper bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Above(_Bounded):
    """A region with a lower bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _Between(_Bounded):
    """A region with two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound


class _IntegerInterval(_Between):
    """The integers from the lower bound to the upper, both included."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _is_whole(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """The integers up to the bound, which is included."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _is_whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """The integers from the bound on, which is included."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _is_whole(value) & (value >= self.lower_bound)


def _is_whole(value: Tensor) -> Tensor:
    return value % 1 == 0


class _Real(Constraint):
    """All numbers but nan."""

    def check(self, value: Tensor) -> Tensor:
        return value == value


class _GreaterThan(_Above):
    """Numbers greater than the bound."""

    def check(self, value: Tensor) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """The bound, and numbers greater than it."""

    def check(self, value: Tensor) -> Any:
        return self.lower_bound <= value


class _LessThan(_Below):
    """Numbers less than the bound."""

    def check(self, value: Tensor) -> Any:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two bounds, both included."""

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two bounds: the lower bound is included, the upper bound is not."""

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and a single 1."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return boolean.check(value).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers with the sum 1, up to 1e-6."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of nonnegative counts with a sum up to the bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Cholesky factors of correlation matrices: lower triangular, a positive diagonal, and rows of length 1."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = torch.linalg.norm(value.detach(), dim=-1)
        return lower_cholesky.check(value) & (lengths - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return torch.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool)


class _Symmetric(_Square):
    """Symmetric matrices, up to 1e-6."""

    def check(self, value: Tensor) -> Tensor:
        are_square = super().check(value)
        if not are_square.all():
            return are_square
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        are_symmetric = super().check(value)
        if not are_symmetric.all():
            return are_symmetric
        return torch.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        are_symmetric = super().check(value)
        if not are_symmetric.all():
            return are_symmetric
        return torch.linalg.cholesky_ex(value).info.eq(0)


dependent: _Dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean: Constraint = _Boolean()
one_hot: Constraint = _OneHot()
nonnegative_integer: Constraint = _IntegerGreaterThan(0)
positive_integer: Constraint = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real: Constraint = _Real()
real_vector: Constraint = independent(real, 1)
positive: Constraint = _GreaterThan(0.0)
nonnegative: Constraint = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval: Constraint = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex: Constraint = _Simplex()
lower_triangular: Constraint = _LowerTriangular()
lower_cholesky: Constraint = _LowerCholesky()
corr_cholesky: Constraint = _CorrCholesky()
square: Constraint = _Square()
symmetric: Constraint = _Symmetric()
positive_semidefinite: Constraint = _PositiveSemidefinite()
positive_definite: Constraint = _PositiveDefinite()
cat = _Cat
stack = _Stack
