"""What a tensor holds, and how its edge is found.

A tensor has an array and the edge to the node that made it. The few tensors that need more have an `AutogradMeta`:
leaves that require grad, views, and tensors with a `.grad` or hooks.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...foundations.modes import local
from ...graph.hooks import HookDict
from ...graph.locks import enter, histories, leave, whole
from ...graph.node import AccumulateGrad, Nowhere, OtherNode, hooks_of
from ...graph.versions import next_number, written_since
from ...kernels.indexing.indexing import overlaps
from ...kernels.layout import layout_of
from ...ops.basic import clone
from ...ops.indexing.indexing import take_backward
from .dispatch import DISPATCH
from .inference import watch_saving
from .refusals import (
    CUSTOM as CUSTOM,
    INFERENCE,
    MULTI_OUTPUT as MULTI_OUTPUT,
    NO_GRAD as NO_GRAD,
    ORDINARY as ORDINARY,
    VALUES as VALUES,
    refusal,
)
from .replays import ByStrides, Chain
from .writable import unlocked

if TYPE_CHECKING:
    from ...graph.engine import Pass

_new, _weak = object.__new__, weakref.ref


class AutogradMeta:
    """The state that only some tensors need.

    A leaf uses `leaf` (it requires grad), a weak reference to its AccumulateGrad, and hooks. A view uses `base`,
    `replay` (which takes the same view of any array of the base's shape), `seen` (the number at which its edge was last
    right) and `creation` (the circumstances that it was created in). Any tensor may use `grad`. The defaults are class
    attributes, since every call that makes a view makes an AutogradMeta.
    """

    __slots__ = ("__dict__", "accumulator")

    # A weak reference to the AccumulateGrad of a leaf, once something has asked for it.
    accumulator: Callable[[], AccumulateGrad | None] | None

    leaf = False
    # The `accumulator` of a leaf, if recording may not use it directly: the leaf no longer requires grad (but may
    # again), or the leaf is a view, whose edge may have to be renewed.
    dormant: Any = None
    grad: Any = None
    grad_dtype: np.dtype[Any] | None = None    # of the gradient of a leaf, if it is not that of the leaf
    any_grad = False                           # whether a gradient of any dtype may be assigned to the leaf
    hooks: HookDict | None = None          # on its gradient; if the tensor has a node, the node holds them too
    post_accumulate: HookDict | None = None
    retained: int | None = None            # the key of its own hook among the retaining hooks of its node
    base: Any = None
    replay: Callable[[Any], Any] | None = None
    seen = 0
    turned = 0                             # for a base: the number of the last in-place change of its geometry
    creation = ORDINARY
    inference = False
    within = 0                             # transforms that ran when it became an inference tensor or their argument
    name: str | None = None

    def __init__(self) -> None:
        self.accumulator = None


class TensorBase:
    """The slots of a tensor. `_edge` is always right if `_grad_meta` is None; otherwise call `edge_of`."""

    __slots__ = ("__dict__", "__weakref__", "_array", "_edge", "_grad_meta")
    _array: Array
    _edge: Any
    _grad_meta: AutogradMeta | None

    if TYPE_CHECKING:                     # the methods of Tensor, for the layers below its class
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def _operator(self, other: Any) -> Any: ...
        def _prefix(self) -> Any: ...
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operator
        __floordiv__ = __mod__ = __pow__ = __rpow__ = __matmul__ = __and__ = __or__ = __xor__ = _operator
        __lt__ = __le__ = __gt__ = __ge__ = _operator
        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...
        __hash__ = object.__hash__
        data: Any
        __neg__ = __invert__ = __abs__ = _prefix


def meta_of(tensor: TensorBase) -> AutogradMeta:
    """The tensor's AutogradMeta, made if it has none."""
    if tensor._grad_meta is None:
        enter()
        try:
            if tensor._grad_meta is None:                       # no other thread was quicker
                tensor._grad_meta = AutogradMeta()
        finally:
            leave()
    meta: AutogradMeta = tensor._grad_meta
    return meta


def mark_inference(result: TensorBase, depth: int | None = None) -> None:
    """Make a new tensor, which no other thread has yet, an inference tensor. `depth` is its `within`; else now."""
    meta = result._grad_meta = result._grad_meta or AutogradMeta()
    meta.inference, meta.within = True, local.thread.functions if depth is None else depth


def note_layout(tensor: TensorBase) -> None:
    """Give a tensor whose elements do not lie row by row an AutogradMeta, if it has none.

    So elementwise calls check the layout only of operands with an AutogradMeta, and usual operands cost nothing.
    """
    array = tensor._array
    in_rows = None if type(array) is np.ndarray else getattr(array, "in_rows", None)     # of samples, known without one
    if in_rows is None:
        in_rows = array.flags.c_contiguous
    if not in_rows and tensor._grad_meta is None:
        tensor._grad_meta = AutogradMeta()
        face = getattr(array, "face", None)
        if face is not None:                             # a sparse array, whose tensors have a class of their own
            tensor.__class__ = face(type(tensor))


def note_kind(tensor: TensorBase) -> None:
    """`note_layout`. Also gives a tensor over a meta array, which may lie row by row, the class of such tensors."""
    note_layout(tensor)
    faced(tensor)


def faced(tensor: TensorBase) -> TensorBase:
    """The tensor itself. Over a meta array, it gets the class of such tensors."""
    face = None if type(tensor._array) is np.ndarray else getattr(tensor._array, "face", None)
    if face is not None:
        tensor.__class__ = face(type(tensor))
    return tensor


def plain_class(kind: type[Any]) -> type[Any]:
    """The class that the class of a tensor over another kind of array is derived from; any other class itself."""
    return vars(kind).get("_plain_class", kind)  # type: ignore[no-any-return]


def edge_of(tensor: TensorBase) -> Any:
    """The edge along which gradients for `tensor` flow; None if it does not require grad."""
    meta = tensor._grad_meta
    if meta is None:
        return tensor._edge
    if meta.inference:
        watch_saving(tensor)
    if meta.accumulator is not None and tensor._edge is None:
        return accumulator_of(tensor)                    # of a leaf that is no view, the usual case
    base = meta.base
    if base is not None:
        if tensor._edge is None and not meta.leaf and not requires(base):
            return None                                  # no gradient flows, whether it was written to or not
        if written_since(tensor._array, meta.seen):
            renew(tensor)
    if tensor._edge is not None:
        return tensor._edge
    if meta.leaf:
        return accumulator_of(tensor)
    if base is not None and requires(base):
        return Nowhere((), tensor._array.shape, tensor._array.dtype)
    return None


def requires(tensor: TensorBase) -> bool:
    """Whether gradients flow to a tensor, by its present edges. Unlike `edge_of`, it never raises."""
    if tensor._edge is not None:
        return True
    meta = tensor._grad_meta
    return meta is not None and (meta.leaf or (meta.base is not None and requires(meta.base)))


def moves(tensor: TensorBase) -> bool:
    """Whether a tensor has a tangent, at any level of forward mode that is in effect."""
    return any([level.moves(tensor._array) for level in local.thread.levels])


def refuse_tangents(name: str, tensors: Iterable[Any], remedy: str) -> None:
    """Raise NotImplementedError if a tensor has a tangent, which a function would lose."""
    if any([tensor is not None and moves(tensor) for tensor in tensors]):
        raise noted(
            NotImplementedError(f"Trying to use forward AD with {name} that does not support it because it has not "
                                "been implemented yet.\nPlease file an issue to PyTorch at "
                                "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we "
                                "can prioritize its implementation."), "forward-mode#set-of-dual", instead=remedy)


def constant(array: Array) -> Any:
    """The same memory without tangents, at any level."""
    for level in local.thread.levels:
        array = level.constant(array)
    return array


def followed(tensor: TensorBase) -> bool:
    """Whether derivatives by a tensor may be needed: a gradient will be recorded, or the tensor has a tangent."""
    thread = local.thread
    return (thread.grad and requires(tensor)) or (bool(thread.levels) and moves(tensor))


def stands_as_leaf(tensor: TensorBase) -> bool:
    """Whether no recorded operation made the tensor, by its present edge. Like PyTorch, it renews no view."""
    return tensor._edge is None


def set_leaf(meta: AutogradMeta, value: bool) -> None:
    """Set whether a leaf requires grad. If it requires grad again later, earlier graphs still lead to it."""
    enter()
    try:
        if value != meta.leaf:
            meta.leaf = value
            if meta.base is None:
                meta.accumulator, meta.dormant = meta.dormant, meta.accumulator
    finally:
        leave()


@whole
def accumulator_of(leaf: Any) -> AccumulateGrad:
    """The AccumulateGrad of a leaf, the same for all threads. It is made anew if nothing holds it at present."""
    meta = leaf._grad_meta
    while True:
        reference = meta.accumulator
        own = reference is not None or meta.base is None
        reference = reference if own else meta.dormant
        accumulator: AccumulateGrad | None = None if reference is None else reference()
        if accumulator is not None:
            return accumulator
        accumulator, array = _new(AccumulateGrad), leaf._array
        accumulator.number = next_number()
        accumulator.edges, accumulator.variable, accumulator.shape = (), leaf, array.shape
        accumulator.dtype = meta.grad_dtype or array.dtype
        accumulator.saved = accumulator.hooks = accumulator.plan = None
        made = _weak(accumulator)
        if own and meta.accumulator is reference:        # no other thread was quicker
            meta.accumulator = made
            return accumulator
        if not own and meta.dormant is reference:
            meta.dormant = made
            return accumulator


def make_view(result: TensorBase, x: Any, replay: Callable[[Any], Any], creation: int) -> None:
    """Note the base of a view of `x`, which owns the memory, and how to take the same view of the base again."""
    result._grad_meta = meta = AutogradMeta()
    meta.seen = next_number()
    origin = x._grad_meta
    first = origin is None or origin.base is None
    meta.base, meta.replay = (x, replay) if first else (origin.base, Chain(origin.replay, replay))
    thread = local.thread
    if not thread.grad:
        creation = INFERENCE if thread.inference else NO_GRAD
    if origin is not None:
        creation = max(creation, origin.creation)
        if origin.inference:                                 # PyTorch does not track views of inference tensors
            meta.inference, meta.within, meta.base, meta.replay = True, origin.within, None, None
    if creation != ORDINARY:                                 # the default of the class
        meta.creation = creation


def renew(view: Any) -> None:
    """Give a view whose memory was written to an edge that goes through its base.

    Raises RuntimeError if a view that was created in this way must not get such an edge.
    """
    meta = view._grad_meta
    base = meta.base
    with histories:
        if not written_since(view._array, meta.seen):
            return                                       # another thread has done it
        if base._grad_meta is not None and base._grad_meta.turned > meta.seen:
            meta.replay = ByStrides(view._array, base._array)
        if view._edge is None and not requires(base):
            return                                       # `seen` stays, since the base may require grad later
        if meta.creation not in (ORDINARY, VALUES):
            raise refusal(meta.creation, view._edge, of_base=True)
        node = StridedView(base, meta.replay, view._array, edge_of(base))
        set_edge(view, node)
        if local.thread.watchers:
            local.thread.tell(node, (view._array,), (base._array,))
        meta.seen = next_number()


def set_edge(tensor: TensorBase, edge: Any) -> None:
    """Give a tensor a new history. Its retaining hook moves to the new node; other hooks stay with the old node."""
    with histories:
        meta = tensor._grad_meta
        if meta is not None:
            meta.hooks = None
        if meta is not None and meta.retained is not None:
            _, keep = tensor._edge.node.hooks.retain.pop(meta.retained)
            hooks_of(edge.node).retain[meta.retained] = (edge.index, keep)
        tensor._edge = edge


class StridedView(OtherNode):
    """The node that a view gets after its base was written to: it takes the view of the present base again."""

    __slots__ = ("base_dtype", "base_shape", "layout", "replay")
    of_view = True

    def __init__(self, base: TensorBase, replay: Callable[[Any], Any], view: Any, edge: Any) -> None:
        super().__init__((edge,), view.shape, view.dtype)
        self.base_shape, self.base_dtype, self.replay = base._array.shape, base._array.dtype, replay
        self.layout = layout_of(base._array)

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        shape = self.base_shape
        if not math.prod(self.shape):
            return [walk.zeros(cotangents[0], shape, self.base_dtype)]
        if type(self.replay) is ByStrides:
            return [self.replay.undone(cotangents[0], shape)]
        if overlaps(self.replay(self._laid_out(np.empty(shape, self.base_dtype)))):
            places = self.replay(self._laid_out(np.arange(math.prod(shape)).reshape(shape)))
            return [take_backward(cotangents[0], places, shape)]
        gradient = self._laid_out(walk.zeros(cotangents[0], shape, self.base_dtype))
        part = self.replay(gradient)
        if isinstance(part, np.ndarray):
            part = unlocked(part)                        # an intermediate view may have made it read-only
        part[...] = cotangents[0]
        return [gradient]

    def _laid_out(self, whole: Any) -> Any:
        """The array `whole`, of the base's shape, in the base's memory layout, so that all views can be taken."""
        return whole if self.layout == "C" else clone(whole, self.layout)


StridedView.__name__ = "AsStridedBackward0"


def plain(array: Array) -> Any:
    """A tensor over `array` that requires no grad."""
    tensor = object.__new__(DISPATCH.tensor)
    tensor._array = array
    tensor._edge = tensor._grad_meta = None
    if type(array) is not np.ndarray or not array.flags.c_contiguous:
        note_layout(tensor)
    if local.thread.inference:
        mark_inference(tensor)
    return tensor


def over(kind: type[Any], array: Array) -> Any:
    """A tensor of a class over an array, with no history and no hooks."""
    tensor = object.__new__(kind)
    tensor._array = array
    tensor._edge = tensor._grad_meta = None
    return tensor


def numbers_in(tensor: TensorBase) -> Any:
    """The numbers that a tensor holds, as a Python number or nested lists. `item` and `tolist` use it.

    A function calls it for an argument that may be a tensor instead of a number. The function then depends on the data.
    """
    return tensor._array.tolist()


def sharing(tensor: TensorBase, array: Array) -> Any:
    """A tensor without history over the memory of another. It is an inference tensor if the other is, in any mode."""
    result = with_edge(array, None)
    if tensor._grad_meta is not None and tensor._grad_meta.inference:
        mark_inference(result, tensor._grad_meta.within)
    return result


def as_leaf(tensor: Any, requires_grad: bool = True) -> Any:
    """The tensor itself, which now requires grad or not: also inside of a transform, which refuses `requires_grad_`."""
    tensor.requires_grad = requires_grad
    return tensor


def with_edge(array: Array, edge: Any) -> Any:
    """A tensor over `array` with this edge; a constant if the edge is None."""
    tensor = object.__new__(DISPATCH.tensor)
    tensor._array, tensor._edge, tensor._grad_meta = array, edge, None
    if type(array) is not np.ndarray or not array.flags.c_contiguous:
        note_layout(tensor)
    return tensor
