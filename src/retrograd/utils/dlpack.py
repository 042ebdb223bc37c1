"""torch.utils.dlpack: memory from and to other libraries, as DLPack capsules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..tensors.arguments.options import check_tensor
from ..tensors.face.memory import from_dlpack
from ..tensors.recording.public import public

__all__ = ["from_dlpack", "to_dlpack"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


@public()
def to_dlpack(tensor: Any) -> Any:
    """A capsule with the memory of a tensor, which another library may take over once. It carries no gradient.

    Functions that call `__dlpack__` themselves, such as `np.from_dlpack`, take the tensor itself.
    """
    check_tensor("_to_dlpack", tensor)
    return tensor.detach().__dlpack__()
