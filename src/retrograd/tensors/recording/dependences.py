"""On which inputs the gradients of an operator depend in a recorded pass, though none of their numbers does.

PyTorch computes such a gradient by a function that is given the input, and so the gradient requires grad if the input
does: its derivative by the input is zero. Here the rule of such an operator does not name the input, and would save it
for nothing. So the gradient of a recorded pass is tied to the input's edge. The table says which operators these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ...graph.node import AccumulateGrad, OtherNode
from ...ops.framework import Op
from ...ops.tables import table
from ...tensors.state.base import TensorBase
from ..state.base import requires, with_edge
from .cotangents import shared_zeros

if TYPE_CHECKING:
    from ...graph.engine import Pass

# By the name of the operator, the inputs that its gradients depend on in PyTorch; after a colon, which of the gradients
# do. Without a colon all of them do.
_LINES = """
_cdist_forward x y
_pdist_forward x
adaptive_avg_pool2d x
adaptive_avg_pool3d x
adaptive_max_pool2d x
adaptive_max_pool3d x
attention q k v
avg_pool2d x
avg_pool3d x
batch_norm x weight
batch_norm_by x weight
convolution x weight
fractional_max_pool2d x
fractional_max_pool3d x
grid_sampler_2d x
grid_sampler_3d x
group_norm x weight : x weight
hardshrink x
hardsigmoid x
hardtanh x
layer_norm x weight bias
leaky_relu x
max_pool2d_with_indices x
max_pool3d_with_indices x
max_unpool2d x
max_unpool3d x
multi_margin_loss x
multilabel_margin_loss x
nll_loss x
nll_loss2d x
prelu x weight
reflection_pad1d x
reflection_pad2d x
reflection_pad3d x
replication_pad1d x
replication_pad2d x
replication_pad3d x
rrelu_with_noise x
segment_reduce x
softshrink x
threshold x
"""
_INPUTS = table("Recorded gradients count as depending on {}",
                dict([line.split(" ", 1) for line in _LINES.strip().splitlines()]),
                because="most of these operators are imported late")


@cache
def _places(op: Op) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of the inputs that an operator's gradients depend on by the table, and of these gradients."""
    inputs, _, those = _INPUTS.get(op.name, "").partition(":")
    on = tuple([op.arguments.index(name) for name in inputs.split() if name in op.arguments])
    return on, tuple([op.arguments.index(name) for name in those.split()]) or tuple(range(op.arity))


def tied(node: Any, gradients: Sequence[Any]) -> Sequence[Any]:
    """The gradients that a node of the op table made, tied to the inputs that PyTorch has them depend on."""
    inputs, those = _places(node.op)
    edges = [edge for edge in [node.edges[place] for place in inputs] if edge is not None and not _detached(edge)]
    if not edges:
        return gradients
    return [with_edge(g._array, Tied(edges, g)) if i in those and g is not None and not requires(g) else g
            for i, g in enumerate(gradients)]


def _detached(edge: Any) -> bool:
    """Whether the leaf at the end of an edge requires no gradient any more."""
    return type(edge) is AccumulateGrad and not requires(edge.variable)


class Tied(OtherNode):
    """What ties a gradient to inputs that it depends on by form alone: the derivatives are zero."""

    __slots__ = ()

    def __init__(self, edges: Sequence[Any], g: TensorBase) -> None:
        super().__init__(tuple(edges), g._array.shape, g._array.dtype)

    def apply(self, cotangents: list[Any], walk: Pass) -> list[Any]:
        """Zeros for all."""
        return [shared_zeros(cotangents[0], edge, walk) for edge in self.edges]


Tied.__name__ = "TiedBackward0"
