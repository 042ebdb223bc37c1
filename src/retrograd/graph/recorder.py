"""What stands between the engine and the rules in a pass that is itself recorded, or in which ops pass the seam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..foundations.dtypes import Array

if TYPE_CHECKING:
    from .node import Node


class Recorder(Protocol):
    """What the engine asks of a tensor layer in a pass that is itself recorded."""

    def saved(self, node: Node, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The saved values of a node, as what the rules are to compute with."""

    def unrecorded(self, node: Node, cotangent: Any, values: tuple[Any, ...] | None) -> tuple[Any, Any, Any]:
        """A cotangent and saved values, as what the rules are to compute with if nothing is recorded.

        The third result is the function `(rule, cotangent, saved values)` that computes a gradient in place of the
        rule, or None.
        """

    def settled(self, value: Any) -> Any:
        """What rules computed, as anybody else may see it."""

    def array(self, value: Any) -> Array:
        """The numbers of a value."""

    def tied(self, node: Node, gradients: Sequence[Any]) -> Sequence[Any]:
        """The gradients of a node, with the histories that PyTorch gives them."""

    def zeros(self, beside: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A gradient of zeros, of the sort of another value of the pass."""
