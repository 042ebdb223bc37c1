"""From tensors to a pass of the engine and back: checks, the recorder, accumulation into leaves.

`autograd.backward`, `autograd.grad` and `Tensor.backward` are thin faces over this module.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import index as as_int
from typing import Any

import numpy as np

from ...dtypes import C_NAMES, dtype as torch_dtype
from ...graph.anomaly import CheckedPass
from ...graph.engine import Pass
from ...graph.hooks import Users
from ...graph.node import AccumulateGrad, GradientEdge, Node, Output, edge_at
from ...graph.ownership import ALONE, SHARED
from ...graph.stack import NESTED, on_a_fresh_stack
from ...graph.versions import writing, written
from ...kernels.layout import dense, steps
from ...modes import local
from ...ops.basic import cast, copy
from ...ops.creation import full_beside
from ...ops.elementwise.arithmetic import add
from ..arguments.size import Size
from ..state.base import TensorBase, edge_of, plain, requires, with_edge
from .calls import recorded
from .dependences import tied
from .inplace import check_writable, write

_accumulation = threading.Lock()
_copy, _cast = recorded(copy), recorded(cast)


class TensorRecorder:
    """Stands between the engine and the rules in a pass that is recorded: the rules see tensors."""

    def saved(self, node: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Saved inputs with the edges they came by, saved results as made by the node itself."""
        tensors: list[Any] = []
        for (kind, index), value in zip(node.saves, values, strict=True):
            if value is None or kind not in ("input", "out"):
                tensors.append(value)
                continue
            edge = node.edges[index] if kind == "input" else node.edge_to(index)
            if type(edge) is AccumulateGrad and not requires(edge.variable):
                edge = None                              # the leaf was detached since
            tensors.append(with_edge(value, edge))
        return tuple(tensors)

    def dtype(self, value: Any) -> np.dtype[Any]:
        """The NumPy dtype of a tensor."""
        dtype: np.dtype[Any] = value._array.dtype
        return dtype

    def array(self, value: Any) -> np.ndarray[Any, Any]:
        """The array of a tensor."""
        array: np.ndarray[Any, Any] = value._array
        return array

    def tied(self, node: Any, gradients: Sequence[Any]) -> Sequence[Any]:
        """The gradients of a node, tied to the inputs that PyTorch has them depend on."""
        return tied(node, gradients) if local.thread.grad else gradients

    def zeros(self, beside: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A constant tensor of zeros, over an array of the sort that `beside` has."""
        return plain(full_beside(beside._array, shape, dtype, 0))


RECORDER = TensorRecorder()


def starting(roots: Sequence[Any], cotangents: Sequence[Any]) -> list[tuple[Any, Any]]:
    """What a pass starts from: the edges of `roots`, each with its cotangent as a tensor.

    Of the given cotangents None stands for a scalar's 1; what is too many is ignored.
    """
    given: list[Any] = []
    for i, (root, cotangent) in enumerate(zip(roots, cotangents)):
        if not isinstance(root, TensorBase):
            cotangent = implicit(root_value(root, i), cotangent, i)
        elif cotangent is not None or requires(root):
            cotangent = implicit(root._array, cotangent, i)
        given.append(cotangent)
    if len(given) < len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    return [(root_edge(root, i), cotangent) for i, (root, cotangent) in enumerate(zip(roots, given))]


def run_backward(starts: list[tuple[Any, Any]], *, retain_graph: Any, create_graph: Any,
                 inputs: Sequence[Any] | None = None, capture: bool = False) -> dict[Any, Any]:
    """One pass from what `starting` gave. Returns the gradients, as tensors, of the edges `inputs` with `capture`."""
    keep: Any = create_graph if retain_graph is None else retain_graph
    if type(keep) is not bool or type(create_graph) is not bool:
        keep, create_graph = bool(as_int(keep)), bool(create_graph)
    thread = local.thread
    # If something stands on the seam, the rules compute with tensors, so that each op of theirs passes the seam.
    recorder = RECORDER if create_graph or thread.transform is not None else None
    faces = {id(tensor._array): tensor for _, tensor in starts} if capture else {}
    if recorder is None:
        starts = [(edge, tensor._array) for edge, tensor in starts]
    grad, outer = thread.grad, thread.walk
    thread.grad = create_graph
    thread.passes += 1
    try:
        kind = Pass if thread.anomalies is None else CheckedPass
        thread.walk = walk = kind(starts, recorder=recorder, keep=keep, inputs=inputs, capture=capture, outer=outer)
        found = walk.run() if thread.passes % NESTED else on_a_fresh_stack(walk.run)
        if walk.notes:
            for callback in walk.notes.get(_CALLBACKS, ()):
                callback()
    finally:
        thread.grad, thread.walk = grad, outer
        thread.passes -= 1
    return {edge: as_tensor(g, faces) for edge, g in found.items()} if found else found


# Under this key, a pass notes what is to be called when all of its gradients have been accumulated.
_CALLBACKS = "callbacks"


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call `callback()` when the backward pass that is under way in this thread has come to its end.

    Callbacks run in the order in which they were queued, and those that they queue themselves after them. If the pass
    fails, none runs. Raises RuntimeError outside of a backward pass.
    """
    walk = local.thread.walk
    if walk is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass. Queue them in a hook, or in "
                           "the backward of a Function.")
    walk.notes.setdefault(_CALLBACKS, []).append(callback)


def as_tensor(g: Any, faces: dict[int, Any] | None = None) -> Any:
    """A gradient as a tensor; a raw array, or a NumPy scalar that a rule made, is wrapped.

    `faces` are the tensors over arrays that have one already, by the identity of the array.
    """
    if isinstance(g, TensorBase):
        return g
    if faces is None:
        return plain(np.asarray(g))
    if id(g) not in faces:
        faces[id(g)] = plain(np.asarray(g))
    return faces[id(g)]


def root_value(root: Any, i: int) -> Any:
    """What has the shape and dtype of a root: its array, or its edge where there is only that."""
    if isinstance(root, GradientEdge):
        return edge_at(root)
    if not isinstance(root, TensorBase):
        raise AssertionError(f"Expected output to be a torch.Tensor. Element {i} of what is to be differentiated is of "
                             f"type {type(root).__name__}.")
    return root._array


def root_edge(root: Any, i: int) -> Any:
    """The edge to start from. Raises RuntimeError where there is none."""
    if isinstance(root, GradientEdge):
        return edge_at(root)
    edge = edge_of(root)
    if edge is None or edge.node is None:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn. {_why(root)}")
    return edge


def _why(root: Any) -> str:
    """Where the graph was cut, as far as can be told."""
    if not np.issubdtype(root._array.dtype, np.inexact):
        return f"Its dtype is {root.dtype}, and only floating-point and complex tensors have gradients."
    if not local.thread.grad:
        return "Grad mode is off here: it was computed under torch.no_grad()."
    return ("Nothing that it was computed from requires grad, or it was detached, or computed under torch.no_grad(). "
            "Set requires_grad=True on a leaf before it is used.")


def implicit(value: Any, cotangent: Any, i: int) -> Any:
    """The cotangent to start with, of the dtype of `value`, to whose shape it must fit; ones for None."""
    shape, dtype = value.shape, value.dtype
    if cotangent is None:
        if shape and prod(shape) != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs. This one has shape {list(shape)}: reduce it "
                "to a scalar, or pass a gradient of that shape.")
        if dtype.kind == "c":
            raise RuntimeError("grad can be implicitly created only for real scalar outputs but got "
                               f"{torch_dtype.of[dtype]}")
        if local.thread.transform is not None and not isinstance(value, (Node, Output)):
            return plain(full_beside(value, shape, dtype, 1))
        return plain(np.ones(shape, dtype) if shape else np.array(1, dtype))    # the same; np.ones takes 0.6 us
    if not isinstance(cotangent, TensorBase):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(cotangent).__name__}")
    array = cotangent._array
    if array.shape != shape:
        raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {Size(array.shape)} and output[{i}] "
                           f"has a shape of {Size(shape)}.")
    if (array.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {torch_dtype.of[array.dtype]} and output[{i}] has a dtype of "
            f"{torch_dtype.of[dtype]}.")
    return cotangent if array.dtype == dtype else _cast(cotangent, dtype)


def accumulate(leaf: Any, g: Any, recorder: Any, own: int) -> None:
    """Add a gradient into a leaf: in place, or as a new tensor where the pass is recorded. Then its hooks run.

    A raw array that nobody else holds (`own` is `ALONE`) becomes the gradient itself; any other is copied, so that no
    gradient aliases another. None, where no gradient reached the leaf, adds nothing. What no longer requires grad gets
    none.
    """
    meta = leaf._meta
    if g is not None and leaf._edge is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior. It was written in place after what "
                           f"is now differentiated was computed from it; its grad_fn is {leaf._edge.node.name()}.")
    if recorder is not None and not local.thread.grad:    # the rules computed with tensors, but nothing is recorded
        g, recorder = None if g is None else g._array, None
    if g is not None and (meta.leaf or requires(leaf)):
        with _accumulation:
            held = meta.grad
            if recorder is not None:
                meta.grad = _copied(leaf._array, g, SHARED, _copy) if held is None else held + g
            elif held is not None:
                _add(held, g)
            elif local.thread.transform is not None:
                meta.grad = plain(copy.run(g, "C"))
            elif own == ALONE and leaf._array.flags.c_contiguous:
                meta.grad = plain(g)
            else:
                meta.grad = _copied(leaf._array, plain(g), own, _copy_plainly)
    if meta.post_accumulate and Users.call(meta.post_accumulate, leaf) is not leaf:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _copied(like: np.ndarray[Any, Any], g: Any, own: int, copying: Callable[[Any, Any], Any]) -> Any:
    """A copy of a leaf's first gradient, laid out as the leaf's array, or row by row if that array is not dense.

    PyTorch makes such a copy of a gradient that others hold or that lies otherwise than the leaf; it writes to
    memory of the leaf's layout, and the write counts. Copies that are made only here count nothing.
    """
    is_dense = dense(like)
    copied = copying(g, "C" if like.flags.c_contiguous or not is_dense else steps(like))
    if is_dense and (own == SHARED or not _lie_alike(g._array, like)):
        written(copied._array, None)
    return copied


def _copy_plainly(g: Any, order: Any) -> Any:
    return plain(copy.run(g._array, order))


def _lie_alike(g: np.ndarray[Any, Any], like: np.ndarray[Any, Any]) -> bool:
    """Whether a gradient has the strides of its leaf; of a dimension of size 1, only that it is not expanded."""
    return all([a == b if size != 1 else a for a, b, size in zip(g.strides, like.strides, g.shape)])


def _add(held: Any, g: np.ndarray[Any, Any]) -> None:
    """Add to a gradient in place. Raises RuntimeError where it cannot be written to."""
    if held._meta is None and local.thread.transform is None:
        try:
            writing(held._array)
            np.add(held._array, g, out=held._array, casting="unsafe")
            written(held._array, None)
            return
        except ValueError:                              # nothing was written; below are PyTorch's words for it
            pass
    check_writable(held, False)
    grad, local.thread.grad = local.thread.grad, False
    try:
        write(add, held, (plain(g),))
    finally:
        local.thread.grad = grad


def check_grad(tensor: Any, grad: Any) -> None:
    """Refuse to assign what is no gradient of `tensor`."""
    if not isinstance(grad, TensorBase):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}")
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad._array.dtype != tensor._array.dtype:
        raise RuntimeError(f"attempting to assign a gradient with dtype '{C_NAMES[grad._array.dtype.name]}' to a "
                           f"tensor with grad_dtype '{tensor.dtype.legacy}'. Convert it with .to({tensor.dtype!r}).")
    if grad._array.shape != tensor._array.shape:
        raise RuntimeError(f"attempting to assign a gradient of size '{list(grad._array.shape)}' to a tensor of size "
                           f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same size")


def input_edge(tensor: Any) -> Any:
    """The edge whose gradient is asked for. Raises RuntimeError where the tensor requires none, or is none."""
    if isinstance(tensor, GradientEdge):
        return edge_at(tensor)
    if not isinstance(tensor, TensorBase):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}")
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad. Set requires_grad=True before the "
                           "computation.")
    return edge


def inputs_of(inputs: Any, asking: str) -> tuple[Any, ...]:
    """The tensors or edges that gradients are asked for, given as one, as several or as the values of a dict.

    Raises RuntimeError where there are none, TypeError for another mapping.
    """
    if isinstance(inputs, (TensorBase, GradientEdge)):
        return (inputs,)
    if isinstance(inputs, Mapping):
        if type(inputs) is not dict:
            raise TypeError(f"`inputs` argument to `{asking}` must be a dict, not {type(inputs).__name__}. Other "
                            "Mapping types are not supported.")
        inputs = inputs.values()
    found = tuple(inputs)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{asking}` cannot be empty.")
    return found
