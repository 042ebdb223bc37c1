"""The recorder of a backward pass: it turns the arrays of the graph into the tensors that rules compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ...foundations.modes import local
from ...graph.crossings import original
from ...graph.node import AccumulateGrad
from ...kernels.kinds import OtherArray
from ...ops.creation import full_beside
from ...tensors.state.base import TensorBase
from ..state.base import over, plain, requires, with_edge
from ..state.dispatch import DISPATCH
from .dependences import tied

if TYPE_CHECKING:
    from ...graph.node import Node


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

    def unrecorded(self, node: Any, cotangent: Any, values: tuple[Any, ...] | None) -> tuple[Any, Any, Any]:
        """How the rules of a node compute if nothing is recorded: the cotangent, the saved values, and `at_once`.

        Under a transform, if nobody watches calls, the rules get interim tensors. If moreover the operator is
        elementwise and no level in effect has tangents, `at_once(rule, cotangent, values)` computes with arrays, and
        the values stay arrays. Otherwise, and always for rules of a program and for sparse arrays, `at_once` is None
        and the rules get plain tensors.
        """
        thread, op = local.thread, node.op
        if thread.transform is None or DISPATCH.plain is not DISPATCH.tensor or not op.known:
            return self.settled(cotangent), values and self.saved(node, values), None
        if isinstance(cotangent._array, OtherArray) or (values and any([isinstance(x, OtherArray) for x in values])):
            return self.settled(cotangent), values and self.saved(node, values), None
        if op.kind == "elementwise" and thread.levels:
            dtype = cotangent._array.dtype
            if (dtype is F32 or dtype is F64) and True not in [level.has_tangents for level in thread.levels]:
                return cotangent, values, DISPATCH.by_elements
        kind = DISPATCH.interim
        if type(cotangent) is DISPATCH.tensor:
            cotangent = over(kind, cotangent._array)
        if values is None:
            return cotangent, None, None
        found = [*values]
        for i in op.saved_arrays:
            if found[i] is not None:
                found[i] = over(kind, found[i])
        return cotangent, found, None

    def settled(self, value: Any) -> Any:
        """An interim tensor, or a view of one, as a plain tensor; any other value as it is."""
        if value is None or (value._grad_meta is None and type(value) is not DISPATCH.interim):
            return value
        base = value if value._grad_meta is None or value._grad_meta.base is None else value._grad_meta.base
        return plain(value._array) if type(base) is DISPATCH.interim else value

    def array(self, value: Any) -> Array:
        """The array of a tensor."""
        array: Array = value._array
        return array

    def tied(self, node: Node, gradients: Sequence[Any]) -> Sequence[Any]:
        """The gradients of a node, tied to the inputs that PyTorch has them depend on."""
        return tied(node, gradients) if local.thread.grad else gradients

    def zeros(self, beside: TensorBase, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A constant tensor of zeros, over an array of the same sort as that of `beside`."""
        return plain(full_beside(beside._array, shape, dtype, 0))


RECORDER = TensorRecorder()
