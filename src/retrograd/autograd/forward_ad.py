"""torch.autograd.forward_ad: a question that programs ask, whether a tensor carries a tangent. No tensor does."""

from typing import TYPE_CHECKING, Any, NamedTuple

from ..names import missing, refused

__all__ = ["UnpackedDualTensor", "dual_level", "make_dual", "unpack_dual"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)

dual_level, make_dual = (refused(f"torch.autograd.forward_ad.{name}") for name in ("dual_level", "make_dual"))


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent."""

    primal: Any
    tangent: Any


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor, and None for its tangent, because there is no forward mode."""
    return UnpackedDualTensor(tensor, None)
