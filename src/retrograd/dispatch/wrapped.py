"""The array of a wrapper: it has a geometry and no numbers of its own, and knows the tensor that it belongs to.

`torch.Tensor._make_wrapper_subclass` makes such tensors. Their class computes with what they wrap, in its
`__torch_dispatch__`. The seam hands calls with such arrays to `dispatch`, so no kernel meets one.
"""

from __future__ import annotations

import copyreg
import weakref
from typing import Any, ClassVar

import numpy as np

from ..foundations.devices import device as Device
from ..graph.crossings import alive
from ..kernels.kinds import Geometry
from ..kernels.layout import address
from ..kernels.meta import without_memory

_new = object.__new__


class WrapperArray(Geometry):
    """The array of a wrapper. `nbytes` is the size that its memory would have, and `device` what the tensor says.

    The array keeps what the tensor has: its class and its attributes. So a graph that holds the array can make the
    tensor again after the program has let go of it. While one such array exists, rules compute with tensors. `fresh`
    says that a handler has just returned the tensor, which is to be the result of the call.
    """

    __slots__ = ("__weakref__", "_held", "_kept", "_kind", "base", "device", "fresh", "layout", "like",
                 "nbytes")
    __array_ufunc__: ClassVar[None] = None

    def __init__(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None, device: Device,
                 layout: Any) -> None:
        lying = without_memory(shape, dtype, strides)
        self.like, self.base, self.nbytes = lying.like, lying.base, lying.nbytes
        self.device, self.layout, self.fresh = device, layout, False
        alive.add(id(self))

    def __del__(self, forget: Any = alive.discard) -> None:
        forget(id(self))

    offset = property(lambda self: (address(self.like) - address(self.base)) // self.like.itemsize)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("A wrapper of tensors has no numbers of its own: its class must handle this call in "
                           "__torch_dispatch__.")

    tolist = item = __array__

    def belong(self, tensor: Any) -> None:
        """Note the tensor of this array. A tensor with slots is kept, since its slots are nowhere else."""
        self._kind, self._kept = type(tensor), vars(tensor)
        self._held: Any = tensor if _has_slots(self._kind) else weakref.ref(tensor)

    def tensor(self) -> Any:
        """The tensor of this array, or another one of its class with the same attributes if it is gone."""
        held = self._held() if type(self._held) is weakref.ref else self._held
        return self.again() if held is None or held._array is not self else held

    def again(self) -> Any:
        """Another tensor over this array, with the same attributes and without a history."""
        made = _new(self._kind)
        made._array, made._edge, made._grad_meta = self, None, None
        vars(made).update(self._kept)
        if type(self._held) is not weakref.ref:
            for name in copyreg._slotnames(self._kind):  # type: ignore[attr-defined]
                if hasattr(self._held, name) and name not in _OWN:
                    setattr(made, name, getattr(self._held, name))
        return made

    def shown(self, tensor: Any) -> Any:
        """The tensor that programs see for `tensor`, a new result over this array: one of the class of wrappers."""
        found = self.tensor()
        if found is tensor:
            return tensor
        if not self.fresh or found._edge is not None or found._grad_meta is not None:
            found = self.again()
        self.fresh = False
        found._edge, found._grad_meta = tensor._edge, tensor._grad_meta
        if type(self._held) is weakref.ref:
            self.belong(found)
        return found


_OWN = frozenset(("_array", "_edge", "_grad_meta"))


def _has_slots(kind: type[Any]) -> bool:
    return bool({*copyreg._slotnames(kind)} - _OWN - {"__weakref__", "__dict__"})  # type: ignore[attr-defined]


def is_wrapper(tensor: Any) -> bool:
    """Whether a tensor is a wrapper."""
    return type(tensor._array) is WrapperArray


def holds_wrapper(values: Any) -> bool:
    """Whether arrays of wrappers are among the arguments of an operator, in lists and tuples too."""
    for value in values:
        kind = type(value)
        if kind is WrapperArray or ((kind is list or kind is tuple) and holds_wrapper(value)):
            return True
    return False


def strided_like(array: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of the geometry of an array, whose numbers nobody reads."""
    found: np.ndarray[Any, Any] = array.like if isinstance(array, WrapperArray) else array
    return found
