"""How tensors travel between processes: as memory that both processes map, or as elements."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ..nn.parameter import Parameter
from ..tensors.face.sharing import from_parts, parts
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor

__all__ = ["init_reductions", "rebuild_tensor", "reduce_tensor"]


def rebuild_tensor(cls: type[Any], sent: tuple[Any, ...], requires_grad: bool) -> Any:
    """A leaf, in the process that receives a tensor."""
    tensor: Any = plain(from_parts(*sent))
    if issubclass(cls, Parameter):
        return Parameter(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def reduce_tensor(tensor: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What is sent for a tensor: its shared memory, or its elements. Before a new process starts, the memory is shared.

    Raises RuntimeError for a tensor that is no leaf and requires grad, because a graph stays in its process.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue).")
    if get_spawning_popen() is not None:
        tensor.share_memory_()
    return rebuild_tensor, (type(tensor), parts(tensor), tensor.requires_grad)


def init_reductions() -> None:
    """Let the queues and pipes of `multiprocessing` send tensors in this way."""
    for cls in (Tensor, Parameter):
        ForkingPickler.register(cls, reduce_tensor)
