"""Distributions that are symmetric about their location."""

from __future__ import annotations

from retrograd import Tensor


class _Symmetric:
    """A distribution, or a part of one, whose mean and whose mode are `loc`."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean: the location."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density: the location."""
        return self.loc
