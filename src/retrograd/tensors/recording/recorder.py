"""The recorder of a backward pass: it turns the arrays of the graph into the tensors that rules compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes import F32, F64
from ...graph.crossings import original
from ...graph.node import AccumulateGrad
from ...modes import local
from ...ops.creation import full_beside
from ..state.base import Results, over, plain, requires, with_edge
from .dependences import tied


class TensorRecorder:
    """Stands between the engine and the rules in a recorded pass, so that the rules get tensors."""

    def saved(self, node: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Saved values as tensors: inputs with the edges of the node, results with the node itself as their history."""
        tensors: list[Any] = []
        recording = local.thread.grad
        for (kind, index), value in zip(node.saves, values, strict=True):
            if value is None or kind not in ("input", "out"):
                tensors.append(value)
                continue
            if not recording:
                tensors.append(with_edge(value, None))
                continue
            edge = original(node.edges[index]) if kind == "input" else node.edge_to(index)
            if type(edge) is AccumulateGrad and not requires(edge.variable):
                edge = None                              # the leaf has been detached since
            tensors.append(with_edge(value, edge))
        return tuple(tensors)

    def unrecorded(self, node: Any, cotangent: Any, values: tuple[Any, ...] | None) -> tuple[Any, Any]:
        """A cotangent and saved values as interim tensors, if a transform is on and nobody watches calls.

        Rules of a program get plain tensors.
        """
        if local.thread.transform is None or Results.plain is not Results.tensor or not node.op.known:
            return self.settled(cotangent), values and self.saved(node, values)
        kind = Results.interim
        if type(cotangent) is Results.tensor:
            cotangent = over(kind, cotangent._array)
        if values is None:
            return cotangent, None
        return cotangent, [over(kind, value) if value is not None and save.kind in ("input", "out") else value
                           for save, value in zip(node.saves, values, strict=True)]

    def pointwise(self, node: Any, cotangent: Any) -> Any:
        """How rules of an elementwise operator compute with arrays at once; None if they do not.

        This is so in an unrecorded pass of a batch, if the cotangent is usual and no level in effect has tangents.
        """
        levels, dtype = local.thread.levels, cotangent._array.dtype
        if (not levels or node.op.kind != "elementwise" or not node.op.known or Results.plain is not Results.tensor
                or (dtype is not F32 and dtype is not F64) or True in [level.has_tangents for level in levels]):
            return None
        return Results.by_elements

    def settled(self, value: Any) -> Any:
        """An interim tensor, or a view of one, as a plain tensor; any other value as it is."""
        if value is None or (value._meta is None and type(value) is not Results.interim):
            return value
        base = value if value._meta is None or value._meta.base is None else value._meta.base
        return plain(value._array) if type(base) is Results.interim else value

    def array(self, value: Any) -> np.ndarray[Any, Any]:
        """The array of a tensor."""
        array: np.ndarray[Any, Any] = value._array
        return array

    def tied(self, node: Any, gradients: Sequence[Any]) -> Sequence[Any]:
        """The gradients of a node, tied to the inputs that PyTorch has them depend on."""
        return tied(node, gradients) if local.thread.grad else gradients

    def zeros(self, beside: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A constant tensor of zeros, over an array of the same sort as that of `beside`."""
        return plain(full_beside(beside._array, shape, dtype, 0))


RECORDER = TensorRecorder()
