"""Transforms of the parts of a value along one dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import retrograd as torch
from retrograd import Tensor

from . import constraints
from .transform import Transform
from .utils import _sum_rightmost, lazy_property

__all__ = ["CatTransform", "StackTransform"]


class _JoinedTransform(Transform):
    """A transform for each of the parts of a value along the dimension `dim`. A subclass makes and joins the parts."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(transform, Transform) for transform in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms: list[Any] = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def _require(self, name: str, value: Tensor, size_name: str, size_text: str, size: int) -> None:
        """Raise AssertionError unless the value has the dimension `dim`, and `size` elements along it."""
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for {name} with {value.dim()} dimensions")
        if value.size(self.dim) != size:
            raise AssertionError(f"{size_name}.size({self.dim}) = {value.size(self.dim)} must equal {size_text} {size}")

    def _check(self, name: str, value: Tensor, size_name: str) -> None:
        raise NotImplementedError

    def _parts(self, value: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _join(self, parts: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Tensor) -> Tensor:
        return self._apply("x", x, [*self.transforms])

    def _inverse(self, y: Tensor) -> Tensor:
        return self._apply("y", y, [transform.inv for transform in self.transforms])

    def _apply(self, size_name: str, value: Tensor, functions: list[Callable[[Tensor], Tensor]]) -> Tensor:
        self._check("tensor", value, size_name)
        return self._join([function(part) for function, part in zip(functions, self._parts(value))])

    def _logarithms(self, x: Tensor, y: Tensor) -> list[Tensor]:
        self._check("x", x, "x")
        self._check("y", y, "y")
        return [transform.log_abs_det_jacobian(before, after)
                for transform, before, after in zip(self.transforms, self._parts(x), self._parts(y))]

    @property
    def bijective(self) -> bool:
        return all(transform.bijective for transform in self.transforms)


class CatTransform(_JoinedTransform):
    """The transforms `tseq` of pieces, of `lengths` along `dim`, joined in the way of `torch.cat`.

    >>> from retrograd.distributions import CatTransform, ExpTransform, identity_transform
    >>> import retrograd as torch
    >>> CatTransform([ExpTransform(), identity_transform], dim=0, lengths=[1, 2])(torch.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None,
                 cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @lazy_property
    def event_dim(self) -> Any:
        return max(transform.event_dim for transform in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size along `dim`."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _check(self, name: str, value: Tensor, size_name: str) -> None:
        self._require(name, value, size_name, "length", self.length)

    def _parts(self, value: Tensor) -> list[Tensor]:
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [value.narrow(self.dim, start, length) for start, length in zip(starts, self.lengths)]

    def _join(self, parts: list[Tensor]) -> Tensor:
        return torch.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        logarithms = [_sum_rightmost(found, self.event_dim - transform.event_dim)
                      for found, transform in zip(self._logarithms(x, y), self.transforms)]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        joined: Any = torch.cat(logarithms, dim=dim) if dim < 0 else sum(logarithms)
        return joined

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([transform.domain for transform in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([transform.codomain for transform in self.transforms], self.dim, self.lengths)


class StackTransform(_JoinedTransform):
    """The transforms `tseq` of the slices along `dim`, joined in the way of `torch.stack`.

    >>> from retrograd.distributions import ExpTransform, StackTransform, identity_transform
    >>> import retrograd as torch
    >>> StackTransform([ExpTransform(), identity_transform], dim=1)(torch.zeros(2, 2))
    tensor([[1., 0.],
            [1., 0.]])
    """

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _check(self, name: str, value: Tensor, size_name: str) -> None:
        self._require(name, value, size_name, "len(transforms)", len(self.transforms))

    def _parts(self, value: Tensor) -> list[Tensor]:
        return [value.select(self.dim, i) for i in range(value.size(self.dim))]

    def _join(self, parts: list[Tensor]) -> Tensor:
        return torch.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._join(self._logarithms(x, y))

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([transform.domain for transform in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([transform.codomain for transform in self.transforms], self.dim)
