"""torch.utils.dlpack: memory from and to other libraries, by DLPack's capsules."""

from __future__ import annotations

from typing import Any

from ..tensors.arguments.options import check_tensor
from ..tensors.face.memory import from_dlpack
from ..tensors.recording.public import public

__all__ = ["from_dlpack", "to_dlpack"]


@public()
def to_dlpack(tensor: Any) -> Any:
    """A capsule with the memory of a tensor, which another library may take over once; no gradient goes with it.

    What calls `__dlpack__` itself, as `np.from_dlpack` and its like do, takes the tensor as it is.
    """
    check_tensor("_to_dlpack", tensor)
    return tensor.detach().__dlpack__()
