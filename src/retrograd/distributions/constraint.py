"""The base class of constraints, and constraints made of others or known only to an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import retrograd as torch
from retrograd import Tensor

from ..foundations.inherited import name_inherited


class Constraint:
    """A region of values. `is_discrete` tells whether its points are separate, `event_dim` how many dims a point has.

    >>> from retrograd.distributions import constraints
    >>> import retrograd as torch
    >>> constraints.simplex.check(torch.tensor([[0.25, 0.75], [0.5, 0.75]]))
    tensor([ True, False])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each point of `value` lies in the region: a bool tensor without the last `event_dim` dims."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """A region that depends on other values, such as the support of a uniform distribution."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:
        return bool(_stated(self._is_discrete, "is_discrete"))

    @property
    def event_dim(self) -> int:
        return int(_stated(self._event_dim, "event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same constraint, with more of its attributes stated."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def _stated(value: Any, name: str) -> Any:
    if value is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return value


def is_dependent(constraint: object) -> bool:
    """Whether this constraint stands for one that only an instance knows."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives the constraint of an instance, and a dependent constraint when read from the class.

    >>> from retrograd.distributions import Uniform, constraints
    >>> Uniform.support.event_dim, Uniform(0.0, 2.0).support
    (0, Interval(lower_bound=0.0, upper_bound=2.0))
    """

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> Any:                    # type: ignore[override]
        """The property of the method below ``@dependent_property(is_discrete=..., event_dim=...)``."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A region whose points are blocks of `reinterpreted_batch_ndims` dims, all of whose points lie in another."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        _require_constraint(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError("reinterpreted_batch_ndims must be an int, got "
                                 f"{type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result: Tensor = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_of_last(result, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: values that every component of the mixture may have."""

    def __init__(self, base_constraint: Any) -> None:
        _require_constraint(base_constraint)
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim)

    def check(self, value: Tensor) -> Tensor:
        result: Tensor = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_of_last(result, result.dim() - (value.dim() - self.event_dim))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


def _require_constraint(base_constraint: object) -> None:
    if not isinstance(base_constraint, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")


def _all_of_last(result: Tensor, dims: int) -> Tensor:
    """Whether all of the last `dims` dimensions are true."""
    return result.reshape((*result.shape[:result.dim() - dims], -1)).all(-1)


class _Joined(Constraint):
    """Constraints of the parts of a value along the dimension `dim`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __init__(self, cseq: Iterable[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        if not all(isinstance(constraint, Constraint) for constraint in self.cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(constraint.is_discrete for constraint in self.cseq)

    def _require_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Joined):
    """A constraint for each of the pieces, of `lengths`, that lie one after another along `dim`."""

    def __init__(self, cseq: Iterable[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> int:
        return max(constraint.event_dim for constraint in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return torch.cat([constraint.check(value.narrow(self.dim, start, length)) for constraint, start, length
                          in zip(self.cseq, starts, self.lengths)], self.dim)


class _Stack(_Joined):
    """A constraint for each of the slices along `dim`."""

    @property
    def event_dim(self) -> int:
        dims = max(int(constraint.event_dim) for constraint in self.cseq)
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        parts = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return torch.stack([constraint.check(part) for part, constraint in zip(parts, self.cseq)], self.dim)
