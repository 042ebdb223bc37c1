"""The array of a wrapper: it has a geometry and no numbers of its own, and knows the tensor that it belongs to.

`torch.Tensor._make_wrapper_subclass` makes such tensors. Their class computes with what they wrap, in its
`__torch_dispatch__`. The seam hands calls with such arrays to `dispatch`, so no kernel meets one.
"""

from __future__ import annotations

import copy
import copyreg
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..foundations.devices import device as Device
from ..foundations.dtypes import dtype as torch_dtype
from ..graph.crossings import alive
from ..kernels.kinds import Geometry
from ..kernels.layout import address
from ..kernels.meta import without_memory
from ..tensors.arguments.options import strided
from ..tensors.face.storage import UntypedStorage
from ..tensors.face.subclassing import make_wrapper_subclass

_new = object.__new__


class WrapperArray(Geometry):
    """The array of a wrapper. `nbytes` is the size that its memory would have, and `place` the device of the tensor.

    The array keeps what the tensor has: its class and its attributes. So a graph that holds the array can make the
    tensor again after the program has let go of it. If a pass meets one, rules compute with tensors. `fresh` says that
    a handler has just returned the tensor, which is to be the result of the call.
    """

    __slots__ = ("__weakref__", "_held", "_kept", "_kind", "base", "fresh", "layout", "like", "nbytes", "place")

    def __init__(self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None, place: Device,
                 layout: Any) -> None:
        lying = without_memory(shape, dtype, strides)
        self.like, self.base, self.nbytes = lying.like, lying.base, lying.nbytes
        self.place, self.layout, self.fresh = place, layout, False
        alive.add(id(self))
        WrapperArray.living += 1

    def __del__(self, forget: Any = alive.discard) -> None:
        forget(id(self))
        WrapperArray.living -= 1

    offset = property(lambda self: (address(self.like) - address(self.base)) // self.like.itemsize)

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{self._kind.__name__} is a wrapper of tensors, and forward mode and vmap know no "
                                  "wrappers. Transform a function of the tensors that it wraps.")

    __array_function__ = copy = __array_ufunc__

    @property
    def __array_interface__(self) -> Any:
        return self.__array_ufunc__()

    living: ClassVar[int] = 0                             # how many there are
    # The number of a tensor with one element, from its class. `modes` fills it in.
    number: ClassVar[Callable[[Any], Any]]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    view = __array__

    def __bool__(self) -> bool:
        return bool(self.item())

    def item(self) -> Any:
        """The number of the only element, which the class of the tensor gives."""
        return WrapperArray.number(self.tensor())

    def tolist(self) -> Any:
        """The number of a tensor without dims. Raises RuntimeError for any other tensor."""
        if not self.like.ndim:
            return self.item()
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {self._kind.__name__}")

    def storage(self) -> UntypedStorage:
        """The storage: it has a size, and no memory. All arrays of one memory have the same."""
        found = _storages.get(id(self.base))
        if found is None:
            found = UntypedStorage._over(np.broadcast_to(np.zeros((), np.uint8), (self.nbytes,)))
            _storages[id(self.base)] = found
            weakref.finalize(self.base, _storages.pop, id(self.base), None)
        return found

    def belong(self, tensor: Any) -> None:
        """Note the tensor of this array. A tensor with slots is kept, since its slots are nowhere else."""
        self._kind, self._kept = type(tensor), vars(tensor)
        self._held: Any = tensor if slots_of(self._kind) else weakref.ref(tensor)

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
            for name in slots_of(self._kind):
                if hasattr(self._held, name):
                    setattr(made, name, getattr(self._held, name))
        return made

    def deepcopied(self, tensor: Any, memo: dict[int, Any]) -> Any:
        """A deep copy of the tensor, which `clone()` makes. Raises RuntimeError if the clone has another class."""
        if id(tensor) in memo:
            return memo[id(tensor)]
        if not tensor.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                               "protocol at the moment.")
        made = tensor.detach().clone()
        if type(made) is not type(tensor):
            raise RuntimeError("The default implementation of __deepcopy__() for wrapper subclasses only works for "
                               "subclass types that implement clone() and for which cloning returns another instance "
                               "of the same subclass. You should either properly implement clone() for your subclass "
                               "or override __deepcopy__() if it is intended behavior for clone() to return an "
                               "instance of a different type.")
        memo[id(tensor)] = made
        if tensor.requires_grad:
            made.requires_grad = True
        if tensor.grad is not None:
            made.grad = copy.deepcopy(tensor.grad, memo)
        vars(made).update(copy.deepcopy(vars(tensor), memo))
        return made

    def reduced(self, tensor: Any) -> tuple[Any, ...]:
        """The contents of a pickle: the geometry and the attributes."""
        return rebuilt, (self.made_by(tensor), self.state(tensor))

    def made_by(self, tensor: Any) -> tuple[Any, ...]:
        """The arguments with which PyTorch makes the tensor again, without its attributes."""
        lie = tuple([step // self.like.itemsize for step in self.like.strides])
        return (type(tensor), torch_dtype.of[self.like.dtype], tuple(self.like.shape), lie, 0, strided, self.place,
                tensor.requires_grad)

    @staticmethod
    def state(tensor: Any) -> dict[str, Any]:
        """The attributes of the tensor."""
        slots = {name: getattr(tensor, name) for name in slots_of(type(tensor)) if hasattr(tensor, name)}
        return {**vars(tensor), **slots}

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


# Storages by the identity of the memory that they stand for.
_storages: dict[int, UntypedStorage] = {}
_OWN = frozenset(("_array", "_edge", "_grad_meta", "__weakref__", "__dict__"))


def slots_of(kind: type[Any]) -> list[str]:
    """The slots that a class of wrappers has beside those of tensors."""
    return [name for name in copyreg._slotnames(kind) if name not in _OWN]  # type: ignore[attr-defined]


def rebuilt(made_by: tuple[Any, ...], state: dict[str, Any]) -> Any:
    """A wrapper from its pickle."""
    kind, dtype, shape, strides, _, _, place, requires_grad = made_by
    made = make_wrapper_subclass(kind, shape, strides=strides, dtype=dtype, device=place, requires_grad=requires_grad)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def strided_like(array: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of the geometry of an array, whose numbers nobody reads."""
    found: np.ndarray[Any, Any] = array.like if isinstance(array, WrapperArray) else array
    return found
