"""The base class of transforms, their inverses, and transforms made of others."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from ..foundations.inherited import name_inherited
from . import constraints
from .utils import _shown, _sum_rightmost, lazy_property

__all__ = ["ComposeTransform", "IndependentTransform", "ReshapeTransform", "Transform", "identity_transform"]


class Transform:
    """A differentiable function of tensors, with the logarithm of the determinant of its Jacobian.

    A transform maps values of the constraint `domain` to values of the constraint `codomain`. If `bijective`, `inv` is
    its inverse. With `cache_size=1` it keeps the latest argument and result, so that the inverse of a result is the
    very argument. A subclass defines `_call`, `_inverse` and `log_abs_det_jacobian`.

    >>> import retrograd as torch
    >>> exp = torch.distributions.ExpTransform()
    >>> y = exp(torch.zeros(2))
    >>> exp.inv(y), exp.log_abs_det_jacobian(exp.inv(y), y)
    (tensor([0., 0.]), tensor([0., 0.]))

    Raises ValueError for another `cache_size` than 0 and 1.
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    _inv: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv = None
        if cache_size:
            self._cached_x_y: tuple[Any, Any] = None, None
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> Any:
        """The number of dims of one argument, if that of one result is the same; otherwise ValueError."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Any:
        """The inverse transform. Its inverse is this transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """The sign of the derivative, +1 or -1, of a transform of single numbers."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with this size of the cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{_shown(type(self))}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __call__(self, x: Tensor) -> Tensor:
        """The transform of `x`, computed or from the cache."""
        if self._cache_size == 0:
            return self._call(x)
        known, result = self._cached_x_y
        if x is not known:
            result = self._call(x)
            self._cached_x_y = x, result
        return result

    def _inv_call(self, y: Tensor) -> Tensor:
        """The inverse for `y`, computed or from the cache."""
        if self._cache_size == 0:
            return self._inverse(y)
        result, known = self._cached_x_y
        if y is not known:
            result = self._inverse(y)
            self._cached_x_y = result, y
        return result

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det(dy/dx)| for an argument and its result, one number for each `event_dim` dims."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Sequence[int]) -> Any:
        """The shape of the results for arguments of this shape."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        """The shape of the arguments for results of this shape."""
        return shape


class Alike(Transform):
    """A transform without parameters: all of its class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class _InverseTransform(Transform):
    """The inverse of a transform, which alone knows how to compute it."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return bool(self._inv.bijective)

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Any:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and bool(self._inv == other._inv)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """The transforms `parts`, one after another.

    >>> from retrograd.distributions import AffineTransform, ComposeTransform, ExpTransform
    >>> import retrograd as torch
    >>> ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])(torch.tensor([0.0, -0.5]))
    tensor([2.7183, 1.0000])
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts: list[Any] = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return _end([(part.domain, part.codomain) for part in self.parts], "domain")

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return _end([(part.codomain, part.domain) for part in reversed(self.parts)], "codomain")

    @lazy_property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Any:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv, inverse._inv = weakref.ref(inverse), weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        terms, event_dim = [], self.domain.event_dim
        for part, before, after in zip(self.parts, values, [*values[1:], y]):
            term = part.log_abs_det_jacobian(before, after)
            terms.append(_sum_rightmost(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return functools.reduce(lambda found, part: part.forward_shape(found), self.parts, shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return functools.reduce(lambda found, part: part.inverse_shape(found), reversed(self.parts), shape)

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {parts}\n)"


def _end(sides: list[tuple[Any, Any]], name: str) -> Any:
    """The constraint at one end of a chain of transforms, given as pairs of the near and the far side of each.

    It has the number of dims that the parts behind it need.
    """
    if not sides:
        return constraints.real
    event_dim = sides[-1][1].event_dim
    for near, far in reversed(sides):
        event_dim = max(event_dim + near.event_dim - far.event_dim, near.event_dim)
    end = sides[0][0]
    if event_dim < end.event_dim:
        raise AssertionError(f"event_dim {event_dim} must be >= {name}.event_dim {end.event_dim}")
    return end if event_dim == end.event_dim else constraints.independent(end, event_dim - end.event_dim)


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Another transform, for which `reinterpreted_batch_ndims` more dims on the right belong to one value.

    The transform computes the same. The logarithm of the determinant is summed over these dims.
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform: Any = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return bool(self.base_transform.bijective)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        return self._with_dims(x, self.domain, self.base_transform)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._with_dims(y, self.codomain, self.base_transform.inv)

    def _with_dims(self, value: Tensor, side: Any, transform: Callable[[Tensor], Tensor]) -> Tensor:
        if value.dim() < side.event_dim:
            raise ValueError("Too few dimensions on input")
        return transform(value)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Reshapes the last dimensions from `in_shape` to `out_shape`. Raises ValueError if the sizes differ."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return _reshaped(shape, self.out_shape, self.in_shape)


def _reshaped(shape: Any, old: Size, new: Size) -> Any:
    """`shape` with the end `new` instead of `old`."""
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return shape[:cut] + new
