"""From constraints to transforms: `biject_to` and `transform_to` make a transform of real numbers into a region.

Optimizers and samplers work on real numbers, and such a transform turns these into valid parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Any]


class ConstraintRegistry:
    """A table from classes of constraints to functions that make a transform for a constraint.

    >>> import retrograd as torch
    >>> from retrograd.distributions import constraints
    >>> torch.distributions.transform_to(constraints.simplex)(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Enter a function for a class of constraints, or for that of an instance. Without it: a decorator.

        Raises TypeError for anything else than a constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not (isinstance(constraint, type) and issubclass(constraint, constraints.Constraint)):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, but got "
                            f"{constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform for a constraint. Raises NotImplementedError if its class has none."""
        if type(constraint) not in self._registry:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return self._registry[type(constraint)](constraint)


biject_to = ConstraintRegistry()                 # bijections
transform_to = ConstraintRegistry()              # simpler transforms, which need not be bijective


def _for_both(*regions: Any) -> Callable[[Factory], Factory]:
    """Enter the function below for these classes of constraints in both tables."""

    def enter(factory: Factory) -> Factory:
        for region in regions:
            biject_to.register(region, factory)
            transform_to.register(region, factory)
        return factory

    return enter


@_for_both(constraints.real)
def _to_real(constraint: Any) -> Any:
    return transforms.identity_transform


@_for_both(constraints.greater_than, constraints.greater_than_eq)
def _to_greater(constraint: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(),
                                        transforms.AffineTransform(constraint.lower_bound, 1)])


@_for_both(constraints.less_than)
def _to_less(constraint: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(),
                                        transforms.AffineTransform(constraint.upper_bound, -1)])


@_for_both(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if all(isinstance(bound, (int, float)) for bound in (low, high)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_for_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _region in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_region, lambda constraint: transforms.PositiveDefiniteTransform())


def _enter_joined(registry: ConstraintRegistry) -> None:
    """Enter the constraints that are made of others, whose transforms the same table has."""
    registry.register(constraints.independent, lambda constraint: transforms.IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims))
    registry.register(constraints.cat, lambda constraint: transforms.CatTransform(
        [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths))
    registry.register(constraints.stack, lambda constraint: transforms.StackTransform(
        [registry(part) for part in constraint.cseq], constraint.dim))


_enter_joined(biject_to)
_enter_joined(transform_to)
