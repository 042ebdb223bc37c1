"""torch.fx.passes.shape_prop: runs a graph once, and notes at each node what its result looks like."""

from __future__ import annotations

import copy
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from ...dispatch.fake import FakeTensorMode
from ...dispatch.here import each_tensor, local
from ...foundations.dtypes import dtype
from ...foundations.names import missing
from ...nn.modules.module import Module
from ...overrides import TorchFunctionMode
from ...tensors.arguments.options import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    strided,
)
from ...tensors.arguments.size import Size
from ...tensors.tensor import Tensor
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_FORMATS = (contiguous_format, channels_last, channels_last_3d)


class TensorMetadata(NamedTuple):
    """What a tensor looks like. `memory_format` is the first format that its strides have, or None."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    """What a tensor looks like. A sparse tensor has no strides and no format."""
    dense = result.layout is strided
    stride = result.stride() if dense else ()
    formats = _FORMATS if include_contiguity and dense else ()
    found = next((each for each in formats if result.is_contiguous(memory_format=each)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, stride, found, result.is_quantized, {})


class ShapeProp(Interpreter):
    """Runs a traced module, and notes at each node what its result looks like.

    `node.meta["tensor_meta"]` is a `TensorMetadata`, or such tuples in the place of the tensors of a nested result.
    `node.meta["type"]` is the class of the result. In a `FakeTensorMode`, and with `fake_mode`, nothing is computed.

    A node that fails raises RuntimeError, which names the node.

    >>> import retrograd as torch
    >>> from retrograd.fx.passes.shape_prop import ShapeProp
    >>> traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(100, 10), torch.nn.ReLU()))
    >>> result = ShapeProp(traced).propagate(torch.randn(50, 100))
    >>> for node in traced.graph.nodes:
    ...     print(node.name, node.meta["tensor_meta"].dtype, node.meta["tensor_meta"].shape)
    input_1 torch.float32 torch.Size([50, 100])
    _0 torch.float32 torch.Size([50, 10])
    _1 torch.float32 torch.Size([50, 10])
    output torch.float32 torch.Size([50, 10])
    """

    def __init__(self, gm: GraphModule, fake_mode: FakeTensorMode | None = None) -> None:
        super().__init__(gm)
        if fake_mode is None:
            fake_mode = next((mode for mode in reversed(local.here.modes) if isinstance(mode, FakeTensorMode)), None)
        self.fake_mode = fake_mode
        self.real_module = self.module
        self.fake_module = None if fake_mode is None else _fake_copy(self.module, fake_mode)

    def run_node(self, n: Node) -> Any:
        """The result of a node. Notes in `n.meta` what the result looks like."""
        try:
            result = self._computed(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def seen(part: Any) -> Any:
            nonlocal found
            if not isinstance(part, Tensor):
                return part
            found = True
            return _extract_tensor_metadata(part)

        meta = map_aggregate(result, seen)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def _computed(self, n: Node) -> Any:
        """The result of a node, of fake tensors if there is a mode for these."""
        if self.fake_mode is None:
            return super().run_node(n)
        self.module = self.fake_module
        try:
            with self.fake_mode:
                return super().run_node(n)
        finally:
            self.module = self.real_module

    def propagate(self, *args: Any) -> Any:
        """What the module returns for arguments."""
        mode = self.fake_mode
        return super().run(*(args if mode is None else each_tensor(args, mode.from_tensor)))


class _FakeCopies(TorchFunctionMode):
    """Makes fake tensors in the place of copies of tensors."""

    def __init__(self, mode: FakeTensorMode) -> None:
        super().__init__()
        self.mode = mode

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return self.mode.from_tensor(args[0]) if func is Tensor.__deepcopy__ else func(*args, **(kwargs or {}))


def _fake_copy(module: Module, mode: FakeTensorMode) -> Any:
    """A copy of a module with fake tensors."""
    memo = {id(each): mode.from_tensor(each) for each in module.parameters()}
    with _FakeCopies(mode):
        return copy.deepcopy(module, memo)
