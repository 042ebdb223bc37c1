"""torch.fx.passes.fake_tensor_prop: runs a graph on fake tensors, and keeps these at the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dispatch.fake import FakeTensorMode
from ...foundations.names import missing
from ...tensors.tensor import Tensor
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["FakeTensorProp"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class FakeTensorProp(Interpreter):
    """Runs a traced module on fake tensors. `node.meta["val"]` is the result of a node; None for what is no number.

    A mode that is to run a module with parameters is made with `allow_non_fake_inputs=True`.

    >>> import retrograd as torch
    >>> from retrograd.fx.passes.fake_tensor_prop import FakeTensorProp
    >>> traced = torch.fx.symbolic_trace(lambda x: (x.t() + 1).relu())
    >>> FakeTensorProp(traced).propagate(torch.ones(2, 3))
    FakeTensor(..., size=(3, 2))
    >>> [node.meta["val"].stride() for node in traced.graph.nodes]
    [(3, 1), (1, 3), (1, 3), (1, 3), (1, 3)]
    """

    def __init__(self, module: GraphModule, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode() if mode is None else mode

    def run_node(self, n: Node) -> Any:
        """The result of a node. Keeps in `n.meta` what stands for the result."""
        result = super().run_node(n)
        meta = map_aggregate(result, self._kept)
        if meta is not None:
            n.meta["val"] = meta
        return result

    def _kept(self, part: Any) -> Any:
        """A result, or a part of it, as a node keeps it: a tensor as an alias of its own."""
        if isinstance(part, Tensor):
            return self._mode.from_tensor(part).detach()
        return part if isinstance(part, (bool, int, float)) else None

    def propagate(self, *args: Any) -> Any:
        """What the module returns for arguments."""
        return self.propagate_dont_convert_inputs(*[
            self._mode.from_tensor(each) if isinstance(each, Tensor) else each for each in args])

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """What the module returns for arguments that are fake tensors already."""
        with self._mode:
            return super().run(*args)
