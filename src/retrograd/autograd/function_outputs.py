"""Prepare the outputs of a Function's forward: new tensors, views, and inputs that forward wrote to.

The module follows PyTorch case by case, because the case decides which later writes are allowed, and with which
gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import DIFFERENTIABLE
from ..foundations.errors import noted, user_site, warn
from ..graph.versions import next_number, written
from ..tensors.face.interop import detach, detach_
from ..tensors.recording.inplace import rebase
from ..tensors.state import base as state
from ..tensors.state.base import TensorBase, requires
from ..tensors.state.inference import refuse_saving, within
from ..tensors.state.refusals import refusal
from ..tensors.tensor import Tensor
from .function_node import FunctionNode
from .grad_mode import no_grad

_MARKS = frozenset(("dirty_tensors", "non_differentiable", "saved_for_forward"))


class Marks:
    """The marks that a context has set on tensors, by identity. `saved`: tensors that `setup_context` saved."""

    __slots__ = ("constant", "dirty", "saved")

    def __init__(self, attributes: dict[str, Any], to_save: Sequence[TensorBase] | None, setup: bool) -> None:
        marked = _tensors(attributes.pop("dirty_tensors", None), "dirty_tensors")
        for tensor in marked:
            written(tensor._array, user_site(4))
        self.dirty = {id(t): t for t in marked}
        self.constant = {id(t) for t in _tensors(attributes.pop("non_differentiable", None), "non_differentiable")}
        for_forward = attributes.pop("saved_for_forward", None)
        self.saved = {id(t) for t in (*(to_save or ()), *(for_forward or ())) if t is not None} if setup else set()


_REFUSED = {
    "dirty_tensors": ("mark_dirty can only accept variables, but argument ",
                      "context#mark-dirty-takes-tensors"),
    "non_differentiable": ("mark_non_differentiable only accepts variable arguments, but got ",
                           "context#mark-non-differentiable-takes-tensors"),
}


def _tensors(marked: Sequence[TensorBase] | None, name: str) -> Sequence[Any]:
    if marked is None:
        return ()
    if not isinstance(marked, tuple):
        raise noted(
            RuntimeError(f"autograd internal error: {name} attribute is expected to be a tuple but is "),
            "context#internal-attributes-of-ctx", because=type(marked).__name__)
    for number, tensor in enumerate(marked):
        if not isinstance(tensor, TensorBase):
            said, entry = _REFUSED[name]
            raise noted(RuntimeError(said), entry, given=f"argument {number} is of type {type(tensor).__name__}")
    return marked


def _check_saved(node: FunctionNode, to_save: Any) -> None:
    """Raise TypeError if a value to save is not a tensor, and RuntimeError for an inference tensor."""
    if not isinstance(to_save, tuple):
        raise noted(
            RuntimeError("autograd internal error: to_save attribute is expected to be a tuple but is "),
            "context#internal-attributes-of-ctx", because=type(to_save).__name__)
    for i, tensor in enumerate(to_save):
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise noted(
                TypeError(f"save_for_backward can only save variables, but argument {i} is of "
                          f"type {type(tensor).__name__}"), "context#save-for-backward-takes-tensors",
                instead="keep other values as attributes of ctx")
        if tensor is not None and tensor._grad_meta is not None and tensor._grad_meta.inference:
            refuse_saving(node, within(tensor))


def finished(node: FunctionNode, args: Sequence[Any], raw: tuple[Any, ...], recording: bool, setup: bool) -> list[Any]:
    """The outputs as `apply` returns them, with their edges. Drops the marks, and keeps the saved tensors."""
    attributes = node.attributes
    to_save = attributes.pop("to_save", None)
    if to_save is not None and recording:
        _check_saved(node, to_save)
    marks = None
    if setup or not _MARKS.isdisjoint(attributes):
        marks = Marks(attributes, to_save, setup)
    if recording and marks is None and len(raw) == 1 and _is_new(raw[0], args):
        out = raw[0]                                    # the usual case, and the quick one
        node.outputs, node.shape, node.dtype = 1, out._array.shape, out._array.dtype
        out._edge = node
        outputs = [out]
    else:
        _note_shapes(node, raw)
        outputs = _outputs(node, args, raw, marks, recording)
    node.number = next_number()                         # so that writes in forward count as earlier
    if to_save and recording:
        node.save(to_save, {id(o): i for i, o in enumerate(outputs)
                            if isinstance(o, TensorBase) and o._edge is not None})
    return outputs


def _is_new(out: TensorBase, args: Sequence[Any]) -> bool:
    """Whether an output is a tensor as any operation makes it: not an input, a view, a leaf or a constant."""
    if not isinstance(out, TensorBase) or out._grad_meta is not None or out._array.dtype not in DIFFERENTIABLE:
        return False
    return id(out) not in map(id, args)


def _outputs(node: FunctionNode, args: Sequence[Any], raw: tuple[Any, ...], marks: Marks | None,
             recording: bool) -> list[Any]:
    inputs = {id(a) for a in args if isinstance(a, TensorBase)}
    outputs: list[Any] = []
    differentiable = 0
    for i, out in enumerate(raw):
        if not isinstance(out, TensorBase):
            outputs.append(out)
            continue
        key = id(out)
        is_input, is_dirty, edge = key in inputs, marks is not None and key in marks.dirty, None
        if recording and out._array.dtype in DIFFERENTIABLE and (marks is None or key not in marks.constant):
            edge = node.edge_to(i)
            differentiable += 1
        if is_dirty and edge is not None:
            _modified(out, edge, is_input, len(raw))
        elif edge is None or is_input or out._grad_meta is not None:
            out = _placed(out, edge, is_input, is_dirty, marks is not None and key in marks.saved)
        else:
            out._edge = edge
        meta = out._grad_meta
        if meta is not None and meta.base is not None and not (is_input and is_dirty):
            meta.creation = state.CUSTOM
        outputs.append(out)
    if marks is not None and any(all(t is not out for out in raw) for t in marks.dirty.values()):
        raise noted(
            RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The "
                         "inputs that are modified inplace must all be outputs of the Function."),
            "context#dirty-not-returned")
    if differentiable > 1:
        for out in outputs:
            if isinstance(out, TensorBase) and out._grad_meta is not None and out._grad_meta.base is not None:
                out._grad_meta.creation = state.MULTI_OUTPUT
    return outputs


def _note_shapes(node: FunctionNode, raw: tuple[Any, ...]) -> None:
    """Note the shapes and dtypes of the outputs, with None for an output that is not a tensor."""
    node.outputs = len(raw)
    shapes = [o._array.shape if isinstance(o, TensorBase) else None for o in raw]
    dtypes = [o._array.dtype if isinstance(o, TensorBase) else None for o in raw]
    node.shape, node.dtype = (shapes[0], dtypes[0]) if len(raw) == 1 else (shapes, dtypes)


def _modified(out: Any, edge: Any, is_input: bool, count: int) -> None:
    """Give a tensor that forward wrote to its new history."""
    # Asking for the edge of a view would renew it, since its memory has been written to.
    meta, before = out._grad_meta, out._edge
    base = None if meta is None else meta.base
    if before is None and requires(out):
        raise noted(
            RuntimeError("a leaf Variable that requires grad has been used in an in-place operation."),
            "context#leaf-written-in-forward")
    if not is_input:
        warn("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have "
             "been mutated should be passed to ctx.mark_dirty().", UserWarning)
    if base is not None and count > 1:
        raise noted(
            RuntimeError("If your Function modifies inplace an input that is a view of another Tensor, your Function "
                         "cannot return more than one Tensor. This is not supported by the current autograd engine. "
                         "You should either make sure the input is not a view (using .clone() for example) or make "
                         "your Function only return one Tensor (potentially splitting it into two Functions: one doing "
                         "the inplace that returns a single Tensor and a second one that does the other operations). "
                         "You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."),
            "context#written-view-and-several-outputs")
    if base is not None and meta.creation != state.ORDINARY:
        raise refusal(meta.creation, before, of_base=False)
    if base is not None and state.stands_as_leaf(base) and before is not None:
        raise noted(
            RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation."),
            "context#view-of-leaf-written-in-forward", instead="give the Function a clone")
    edge.node.slice = base is not None
    if meta is not None:
        meta.grad = None                                 # it was the gradient of the old values
    rebase(out, edge)


def _placed(out: Any, edge: Any, is_input: bool, is_dirty: bool, is_saved: bool) -> Any:
    """An output that is a constant, an unchanged input, or a tensor with an AutogradMeta, with its edge."""
    if edge is None and requires(out):
        if is_input:
            return detach(out)
        return out if out._is_view() else detach_(out)
    if edge is None and (is_dirty or not is_input):
        return out
    if is_input:
        if is_saved:
            raise noted(
                RuntimeError("An input that has been returned as-is as output is being saved for backward. This is "
                             "not supported if you override setup_context. You should return and save a view of the "
                             "input instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."),
                "context#returned-input-saved")
        if out.is_inference():
            return state.plain(out._array)
        view = state.with_edge(out._array, edge)
        state.make_view(view, out, _itself, state.CUSTOM)
        return view if type(out) is Tensor else _in_class(view, out)
    state.set_edge(out, edge)
    meta = out._grad_meta
    if meta.base is not None:
        meta.seen = next_number()
    return out


def _in_class(view: Any, tensor: Any) -> Any:
    """The view in the class that `view_as` of the tensor returns, by the tensor's own `__torch_function__`."""
    with no_grad():
        found = tensor.view_as(tensor)
    if type(found) is type(view) or not isinstance(found, TensorBase):
        return view
    found._array, found._edge, found._grad_meta = view._array, view._edge, view._grad_meta
    return found


def _itself(array: Any) -> Any:
    return array.view() if isinstance(array, np.ndarray) else array.view_as(array)
