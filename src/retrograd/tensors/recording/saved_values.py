"""The `_saved_*` and `_raw_saved_*` attributes of nodes: saved values as users read them, and hooks on single values.

`saved_names` has PyTorch's names of the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...foundations.errors import noted
from ...graph import faults
from ...graph.node import RELEASED, AccumulateGrad, OpNode
from ...graph.packed import Converted, Indices, Packed, Parcel
from ...graph.versions import written_since
from ..state.base import plain
from .saved_names import SCALARS, Attribute, attributes_of
from .saving import Hooked, origin, with_history

if TYPE_CHECKING:
    from ...graph.node import Node

_SAVED, _RAW = "_saved_", "_raw_saved_"
_UNSIGNED = 2**64 - 1
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def attribute(node: OpNode, name: str) -> Any:
    """The value of an attribute of a node of the op table, `_saved_…` or `_raw_saved_…`.

    Raises AttributeError if there is no such attribute, RuntimeError if a pass has freed the value or if its memory was
    written to since.
    """
    raw = name.startswith(_RAW)
    found = attributes_of(node.op).get(name.removeprefix(_RAW if raw else _SAVED))
    if found is None or not name.startswith((_SAVED, _RAW)) or (raw and not _holds_tensors(node.op, found)):
        raise AttributeError(f"'{node.name()}' object has no attribute '{name}'")
    if found.kind == "constant":
        return found.place
    if found.kind == "strides":
        return _strides(node, found.place)
    if found.kind != "saved":
        return _sizes(node, found)
    if node.saves[found.place].kind != "static":
        return saved_tensor(node, found.place) if raw else _tensor(node, found.place, _saved(node)[found.place])
    value = _saved(node)[found.place]
    if not isinstance(value, Indices):
        return _encoded(value, name.removeprefix(_SAVED) in SCALARS)
    return tuple([saved_tensor(node, found.place, i) if raw else _tensor(node, found.place, array)
                  for i, array in enumerate(value.arrays)])


def attributes(node: OpNode) -> list[str]:
    """The names of all such attributes of a node."""
    of_op = attributes_of(node.op)
    return [*[_SAVED + name for name in of_op],
            *[_RAW + name for name, found in of_op.items() if _holds_tensors(node.op, found)]]


def _holds_tensors(op: Any, found: Attribute) -> bool:
    if found.kind != "saved":
        return False
    return op.saves[found.place].kind in ("input", "out") or found.place == op.indices_at


def _saved(node: Node) -> tuple[Any, ...]:
    """The saved values of a node. Raises RuntimeError if a pass has freed them."""
    if node.saved is RELEASED:
        raise faults.second_pass(node)
    saved: tuple[Any, ...] = (None,) * len(node.saves) if node.saved is None else node.saved
    return saved


def _sizes(node: OpNode, found: Attribute) -> Any:
    """The sizes of an input, or of the results along a dim; or their product, or one of them."""
    if found.kind == "parts":
        dim = _saved(node)[found.place]
        sizes = tuple([shape[dim] for shape in node.shape])
    else:
        sizes = _shape(node, found.place)
    if found.kind == "size":
        return math.prod(sizes)
    return sizes if found.axis is None else sizes[found.axis]


def _shape(node: OpNode, place: int) -> tuple[int, ...]:
    """The shape of an input: that of its edge or, if it has none, that of its saved array."""
    edge = node.edges[place]
    if edge is not None:
        shape: tuple[int, ...] = edge.shape
        return shape
    for i, save in enumerate(node.saves):
        if save == ("input", place):
            value = _saved(node)[i]
            return tuple(value.unpack(node).shape if isinstance(value, Parcel) else value.shape)
    raise AssertionError("an input whose shape is asked for either requires grad or is saved")


def _strides(node: OpNode, place: int) -> tuple[int, ...]:
    """The strides of an input, in elements; empty if the gradient by the input is not needed, as in PyTorch."""
    strides = _saved(node)[place] or ()
    return tuple([stride // node.dtype.itemsize for stride in strides])


def _encoded(value: Any, scalar: bool) -> Any:
    """An option in the form in which PyTorch keeps it."""
    if isinstance(value, (tuple, list)):
        return tuple([_encoded(v, scalar) for v in value])
    if type(value) is str:
        return _REDUCTIONS.get(value, value)
    return value & _UNSIGNED if type(value) is int and not scalar else value


def _tensor(node: OpNode, place: int, value: Any) -> Any:
    """A saved value as a tensor; None if no value was saved.

    A leaf is the original tensor. Any other tensor is made anew, over the same memory and with the same history.
    """
    if value is None:
        return None
    if isinstance(value, Hooked):
        return value.tensor(value.edge if value.number is None else node.edge_to(value.number))
    array, edge, number = origin(node, place, value)
    if written_since(array, node.number):
        raise faults.modified(node, array, faults.origin(node, array, edge, number))
    return with_history(array, edge if number is None else node.edge_to(number))


class SavedTensor:
    """One saved value of a node, to give it hooks of its own: `node._raw_saved_self.register_hooks(pack, unpack)`.

    `data` is the value that the node keeps: the tensor, or the result of a pack hook. `unpack()` returns the tensor.
    Only nodes make a SavedTensor.
    """

    __slots__ = ("_member", "_node", "_place")
    __module__ = "torch._C._autograd"
    _member: int | None                                  # the index, if the value is a sequence of tensors
    _node: Any
    _place: int

    def __init__(self) -> None:
        raise noted(
            RuntimeError("Trying to create a SavedTensor object from Python is forbidden."),
            "hooks#saved-tensor-constructor")

    @property
    def unpack_hook(self) -> Callable[[Any], Any] | None:
        """The hook that makes a tensor from `data`; None if the value has no hooks."""
        value = self._kept()
        return value.unpack_hook if isinstance(value, Hooked) else None

    @property
    def data(self) -> Any:
        """The kept value: a leaf, another tensor without history, or a pack hook's result; None after it was freed."""
        value = self._kept()
        if value is None or isinstance(value, Hooked):
            return None if value is None else value.packed
        array, edge, _ = origin(self._node, self._place, value)
        return with_history(array, edge if type(edge) is AccumulateGrad else None)

    def unpack(self) -> Any:
        """The tensor, with its history. Raises RuntimeError if it was freed, or if its memory was written to."""
        value = self._kept()
        if value is None and self._node.saved is RELEASED:
            raise faults.second_pass(self._node)
        return _tensor(self._node, self._place, value)

    def _kept(self) -> Any:
        """The value that the node keeps; None if a pass has freed it."""
        return self._value() if isinstance(self._node.saved, tuple) else None

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Call `pack_hook(tensor)` now, and keep its result. `unpack_hook(packed)` makes a tensor from that result.

        The pack hook gets a tensor without history. Raises TypeError if a hook cannot be called. Raises RuntimeError if
        the value is None, was freed by a backward pass or has hooks already, or if the pack hook writes to it in place.
        """
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise noted(
                TypeError(f"register_hooks(): both hooks must be callable, but got {pack_hook!r} and {unpack_hook!r}"),
                "hooks#register-hooks-callable")
        node, value = self._node, self._value()
        if isinstance(value, Hooked):
            raise noted(
                RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                             "only one pair of hooks is allowed at a time."), "hooks#hooks-set-twice")
        if value is None:
            raise noted(
                RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden"),
                "hooks#hooks-of-none")
        array, edge, number = origin(node, self._place, value)
        dtype = value.array.dtype if isinstance(value, Converted) else None
        hooked: Any = Hooked((pack_hook, unpack_hook), plain(array), edge, number, dtype)
        values = [*node.saved]
        if self._member is not None:
            among = [*values[self._place].arrays]
            among[self._member], hooked = hooked, Indices(tuple(among))
        values[self._place] = hooked
        node.saved, node.plan = Packed(values), None

    def _value(self) -> Any:
        """The value that the node keeps. Raises RuntimeError if a pass has freed it."""
        saved = self._node.saved
        if saved is not None and not isinstance(saved, tuple):
            raise noted(
                RuntimeError("Calling register_hooks on a saved tensor after it has been "
                             f"freed. {faults.FREED.format('variables')}"), "hooks#hooks-of-freed-value")
        value: Any = None if saved is None else saved[self._place]
        return value if self._member is None else value.arrays[self._member]


def saved_tensor(node: Node, place: int, member: int | None = None) -> SavedTensor:
    """The saved value at this index of a node; `member` is the index in it if it is a sequence of tensors."""
    saved = object.__new__(SavedTensor)
    saved._node, saved._place, saved._member = node, place, member
    return saved
