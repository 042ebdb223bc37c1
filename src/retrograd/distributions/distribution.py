"""The base class of distributions: shapes, checks of parameters and values, expanding, and what can be derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from ..foundations.errors import noted, warn
from ..foundations.inherited import name_inherited, same_code
from ..tensors.transforms.batched import parts
from . import constraints
from .utils import _shown, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A probability distribution, or a batch of independent ones.

    `batch_shape` is the shape of the batch, `event_shape` that of one sample of one distribution. With
    `validate_args`, wrong parameters and values outside the support raise ValueError; the default is True unless
    Python runs with -O.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Choose whether distributions check their parameters and values. Raises ValueError if `value` is no bool."""
        if value not in [True, False]:
            raise noted(ValueError(), because=f"the argument must be True or False, not {value!r}")
        Distribution._validate_args = value

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __init__(self, batch_shape: Sequence[int] = Size(), event_shape: Sequence[int] = Size(),
                 validate_args: bool | None = None) -> None:
        self._batch_shape: Any = batch_shape
        self._event_shape: Any = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warn(f"{_shown(type(self))} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                 "initialize the distribution with `validate_args=False` to turn off validation.")
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue
            value = getattr(self, name)
            if not _all_true(constraint.check(value)):
                raise ValueError(f"Expected parameter {name} ({_described(value)}) of distribution {self!r} to satisfy "
                                 f"the constraint {constraint!r}, but found invalid values:\n{value}")

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        """The distribution with parameters expanded to a batch of shape `batch_shape`, without copies or checks.

        `_instance` is an instance of a subclass that calls this method to fill it.
        """
        raise NotImplementedError

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one sample of one distribution."""
        return self._event_shape

    @property
    def arg_constraints(self) -> Mapping[str, Any]:
        """The names of the parameters, with the constraints that they satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that all samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean, of shape `batch_shape + event_shape`."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density."""
        raise NotImplementedError(f"{_shown(type(self))} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance, of shape `batch_shape + event_shape`."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation: the root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Samples of shape `sample_shape + batch_shape + event_shape`, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Samples that are differentiable functions of the parameters, if `has_rsample`."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """The samples of `sample((n,))`. PyTorch calls this method deprecated, and it warns."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or the probability of `value`."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a sample that is not greater than `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`: the quantile of the probability `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along the first dimension.

        The other dims are `batch_shape + event_shape`. Without `expand`, the dims of the batch are 1.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape `batch_shape`."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy), of shape `batch_shape`."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        """The shape of samples: `sample_shape + batch_shape + event_shape`."""
        return Size(Size(sample_shape) + self._batch_shape + self._event_shape)

    def _validate_sample(self, value: Tensor) -> None:
        """Raise ValueError for a value of a wrong shape or outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.size(), self._batch_shape + self._event_shape
        if shape[len(shape) - len(self._event_shape):] != self._event_shape:
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{shape} vs {self._event_shape}.")
        if any(1 not in pair and pair[0] != pair[1] for pair in zip(reversed(shape), reversed(expected))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warn(f"{_shown(type(self))} does not define `support` to enable sample validation. Please initialize the "
                 "distribution with `validate_args=False` to turn off validation.")
            return
        if not _all_true(support.check(value)):
            raise ValueError(f"Expected value argument ({_described(value)}) to be within the support ({support!r}) of "
                             f"the distribution {self!r}, but found invalid values:\n{value}")

    def _get_checked_instance(self, cls: type, _instance: Distribution | None = None) -> Any:
        """The instance that `expand` of the class `cls` fills. Raises NotImplementedError if it cannot know how."""
        if _instance is not None:
            return _instance
        if not same_code(type(self).__init__, cls.__init__):             # type: ignore[misc]
            known = [kind.__name__ for kind in type(self).__mro__ if issubclass(kind, cls) and kind.__name__[0] != "_"]
            raise NotImplementedError(f"Subclass {type(self).__name__} of {known[-1]} that defines a custom "
                                      "__init__ method must also define a custom .expand() method.")
        return self.__new__(type(self))

    def _expanded(self, cls: type[Any], batch_shape: Sequence[int], _instance: Distribution | None,
                  **event_dims: int) -> Any:
        """`expand` for the class `cls`: the named attributes that the instance has are expanded.

        Each is given with the number of its last dimensions that do not belong to the batch.
        """
        new = self._with_expanded(cls, batch_shape, _instance, event_dims)
        parent: Any = super(cls, new)
        parent.__init__(Size(batch_shape), self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _with_expanded(self, cls: type[Any], batch_shape: Sequence[int], _instance: Distribution | None,
                       event_dims: Mapping[str, int]) -> Any:
        """The instance that `expand` fills, with the named attributes expanded."""
        new = self._get_checked_instance(cls, _instance)
        for name, dims in event_dims.items():
            if name in self.__dict__:
                value = getattr(self, name)
                setattr(new, name, value.expand(Size(batch_shape) + value.shape[value.dim() - dims:]))
        return new

    def __repr__(self) -> str:
        values = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in values.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


def _all_true(valid: Any) -> bool:
    """Whether all elements are true. Inside of `vmap` these are the elements of all samples."""
    numbers, levels = parts(valid._array)
    return bool(numbers.all() if levels else valid.all())


def _described(value: Tensor) -> str:
    return f"{type(value).__name__} of shape {tuple(value.shape)}"
