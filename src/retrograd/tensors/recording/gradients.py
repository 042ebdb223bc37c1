"""Between tensors and the engine: checks, the start of a pass, accumulation into leaves.

`autograd.backward`, `autograd.grad` and `Tensor.backward` call this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import index as as_int
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, dtype as torch_dtype
from ...foundations.errors import noted
from ...foundations.modes import as_program, local
from ...graph.anomaly import CheckedPass
from ...graph.crossings import alive as crossings, lasting
from ...graph.engine import Pass
from ...graph.hooks import USER_HOOKS
from ...graph.locks import accumulating
from ...graph.node import GradientEdge, Node, Output, edge_at
from ...graph.ownership import ALONE, SHARED
from ...graph.recorded_pass import RecordedPass
from ...graph.route import Route
from ...graph.stack import NESTED, on_a_fresh_stack
from ...graph.versions import note_writer, writing, written, written_once
from ...kernels.kinds import OtherArray
from ...kernels.layout import dense, row_major, steps
from ...ops.basic import cast, copy, copy_into
from ...ops.creation import full_beside
from ...ops.elementwise.arithmetic import add
from ..arguments.size import Size
from ..state.base import TensorBase, constant, edge_of, faced, plain, requires
from ..state.dispatch import DISPATCH, shown
from .calls import recorded
from .inplace import check_writable, over
from .recorder import RECORDER

_copy_into = recorded(copy_into)


def starting(roots: Sequence[Any], cotangents: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The edges of `roots`, from which a pass starts, each with its cotangent as a tensor.

    For a scalar root, a cotangent of None stands for 1. Extra cotangents are ignored.
    """
    given: list[Any] = []
    for i, (root, cotangent) in enumerate(zip(roots, cotangents)):
        if not isinstance(root, TensorBase):
            cotangent = implicit(root_value(root, i), cotangent, i)
        elif cotangent is not None or requires(root):
            cotangent = implicit(root._array, cotangent, i)
        given.append(cotangent)
    if len(given) < len(roots):
        raise noted(
            RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients"), "backward#number-of-gradients")
    return [(root_edge(root, i), cotangent) for i, (root, cotangent) in enumerate(zip(roots, given))]


def refuse_inside() -> None:
    """Raise RuntimeError inside of a transformed function, where `backward()` would leave gradients for nobody."""
    if local.thread.functions:
        raise noted(
            RuntimeError("backward() called inside a functorch transform. This is not supported, please use "
                         "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
                         "transforms."), "backward#backward-in-a-transform")


class Kinds:
    """What makes a pass with a recorder, and a pass for anomaly detection. The package of wrappers replaces both."""

    recorded: Callable[..., Any] = RecordedPass
    checked: Callable[..., Any] = CheckedPass


def run_backward(starts: list[tuple[Any, Any]], *, retain_graph: Any, create_graph: Any,
                 inputs: Sequence[Any] | None = None, capture: bool = False,
                 route: Route | None = None) -> dict[Any, Any]:
    """Run one pass from what `starting` returned. With `capture`, it returns the gradients of the edges `inputs`.

    `route` is for passes that start and stop at the same edges.
    """
    keep: Any = create_graph if retain_graph is None else retain_graph
    if type(keep) is not bool or type(create_graph) is not bool:
        keep, create_graph = bool(as_int(keep)), bool(create_graph)
    thread = local.thread
    if crossings and route is None:
        route = Route(dict.fromkeys([edge for edge, _ in starts]), inputs, capture)
    # If a transform is on, or the pass crosses into one, rules compute with tensors, whose operations pass the seam.
    recorder = RECORDER if create_graph or thread.transform is not None or (
        crossings and route is not None and route.crosses()) else None
    faces = {id(tensor._array): tensor for _, tensor in starts} if capture else {}
    if recorder is None:
        starts = [(edge, tensor._array) for edge, tensor in starts]
    grad, outer = thread.grad, thread.walk
    levels, transform, watchers = thread.levels, thread.transform, thread.watchers
    thread.grad = create_graph
    thread.passes += 1
    try:
        usual = Pass if recorder is None else Kinds.recorded
        kind = thread.passing or (usual if thread.anomalies is None else Kinds.checked)
        thread.walk = walk = kind(starts, recorder=recorder, keep=keep, inputs=inputs, capture=capture, outer=outer,
                                  route=route, in_steps=RECORDER)
        found = walk.run() if thread.passes % NESTED else on_a_fresh_stack(walk.run)
        for callback in walk.notes.get(_CALLBACKS, ()) if walk.notes else ():
            as_program(callback)
    finally:
        thread.grad, thread.walk = grad, outer
        if thread.levels != levels or thread.transform in lasting:         # the pass crossed into a transform
            thread.levels, thread.transform = levels, transform
        if crossings:
            thread.watchers = watchers
        thread.passes -= 1
    if recorder is not None and not create_graph:          # the rules computed with tensors, but recorded nothing
        found = {edge: _without_base(g, faces) for edge, g in found.items()}
    if recorder is not None:
        return {edge: shown(as_tensor(g, faces)) for edge, g in found.items()}
    return {edge: as_tensor(g, faces) for edge, g in found.items()} if found else found


def _without_base(g: TensorBase, faces: dict[int, Any]) -> Any:
    """The array of a gradient that only rules saw, or that is a view of another tensor; any other gradient as it is."""
    if type(g) is DISPATCH.interim:
        return g._array
    meta = g._grad_meta if isinstance(g, TensorBase) else None
    view = meta is not None and meta.base is not None and id(g._array) not in faces
    return g._array if view and g._edge is None else g


# Under this key, a pass keeps the callbacks to call after all gradients have been accumulated.
_CALLBACKS = "callbacks"


def queue_callback(callback: Callable[[], Any], walk: Any = None) -> None:
    """Call `callback()` at the end of the backward pass that is running in this thread, or of the pass `walk`.

    Callbacks run in the order in which they were queued. Callbacks may queue others, which run after them. If the pass
    fails, no callback runs. Raises RuntimeError outside of a backward pass.
    """
    walk = walk or local.thread.walk
    if walk is None:
        raise noted(
            RuntimeError("Final callbacks can only be installed during backward pass."),
            "hooks#callback-outside-of-backward", instead="queue them in a hook, or in the backward of a Function")
    walk.notes.setdefault(_CALLBACKS, []).append(callback)


def as_tensor(g: Any, faces: dict[int, Any] | None = None) -> Any:
    """A gradient as a tensor. An array, or a NumPy scalar that a rule returned, is wrapped.

    `faces` maps the id of an array to the tensor that already exists over it.
    """
    if isinstance(g, TensorBase):
        return g
    if faces is None:
        return plain(_array_of(g))
    if id(g) not in faces:
        faces[id(g)] = plain(_array_of(g))
    return faces[id(g)]


def _array_of(g: Any) -> Any:
    """A gradient as an array: an array of any kind as it is, a NumPy scalar as an array without dimensions."""
    return np.asarray(g) if isinstance(g, np.generic) else g


def root_value(root: Any, i: int) -> Any:
    """The array of a root tensor; the edge itself if the root is an edge. Both have a shape and a dtype."""
    if isinstance(root, GradientEdge):
        return edge_at(root)
    if not isinstance(root, TensorBase):
        raise noted(
            AssertionError("Expected output to be a torch.Tensor"), "backward#output-is-a-tensor",
            given=f"element {i} of the outputs to differentiate is of type {type(root).__name__}")
    return root._array


def root_edge(root: Any, i: int) -> Any:
    """The edge to start from. Raises RuntimeError if the root has no edge."""
    if isinstance(root, GradientEdge):
        return edge_at(root)
    edge = edge_of(root)
    if edge is None or edge.node is None:
        raise noted(
            RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn"),
            "backward#does-not-require-grad", because=_why(root))
    return edge


def _why(root: TensorBase) -> str:
    """The likely reason why a root has no edge."""
    if not np.issubdtype(root._array.dtype, np.inexact):
        return f"Its dtype is {root.dtype}, and only floating-point and complex tensors have gradients."
    if not local.thread.grad:
        return "Grad mode is off here, by no_grad() or inference_mode(): compute the result where grad mode is on."
    return ("Nothing behind it requires grad: set requires_grad=True on a leaf before its use. Or the graph was cut: "
            "by detach(), no_grad(), integers such as those of argmax, or a gradient without create_graph=True.")


def implicit(value: Any, cotangent: TensorBase | None, i: int) -> Any:
    """The cotangent to start with; ones for None. It gets the dtype of `value`, and must have its shape."""
    shape, dtype = value.shape, value.dtype
    if cotangent is None:
        if shape and prod(shape) != 1:
            raise noted(
                RuntimeError("grad can be implicitly created only for scalar outputs"),
                "backward#only-for-scalar-outputs",
                given=f"this one has shape {list(shape)}: reduce it to a scalar, or pass a gradient of that shape")
        if dtype.kind == "c":
            raise noted(
                RuntimeError("grad can be implicitly created only for real scalar outputs but "
                             f"got {torch_dtype.of[dtype]}"), "backward#only-for-real-scalar-outputs")
        if local.thread.transform is not None and not isinstance(value, (Node, Output)):
            return plain(full_beside(value, shape, dtype, 1))
        return plain(np.ones(shape, dtype) if shape else np.array(1, dtype))    # quicker than np.ones(()) by 0.6 us
    if not isinstance(cotangent, TensorBase):
        raise noted(
            TypeError(f"gradients can be either Tensors or None, but got {type(cotangent).__name__}"),
            "backward#gradients-are-tensors")
    array = cotangent._array
    if array.shape != shape:
        raise noted(
            RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {Size(array.shape)} and output[{i}] "
                         f"has a shape of {Size(shape)}."), "backward#shape-of-grad-output")
    if (array.dtype.kind == "c") != (dtype.kind == "c"):
        raise noted(
            RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. "
                         f"Mismatch in dtype: grad_output[{i}] has a dtype of {torch_dtype.of[array.dtype]} and "
                         f"output[{i}] has a dtype of {torch_dtype.of[dtype]}."), "backward#dtype-of-grad-output")
    return cotangent if array.dtype == dtype else cast(cotangent, dtype)


def accumulate(leaf: Any, g: Any, recorder: Any, own: int) -> None:
    """Add a gradient to a leaf: in place, or as a new tensor if the pass is recorded. Then run the leaf's hooks.

    An array without another holder (`own` is `ALONE`) becomes the gradient itself. Any other array is copied, so that
    no gradient aliases another. If no gradient reached the leaf (`g` is None), or if the leaf no longer requires grad,
    nothing is added.
    """
    meta = leaf._grad_meta
    if g is not None and leaf._edge is not None:
        raise noted(
            RuntimeError("leaf variable has been moved into the graph interior"), "backward#leaf-moved-into-the-graph",
            given="written in place after it was used to compute the differentiated tensor; its grad_fn "
                  f"is {leaf._edge.node.name()}")
    if recorder is not None and not local.thread.grad:    # the rules computed with tensors, but record nothing
        g, recorder = None if g is None else constant(g._array), None
    if g is not None and (meta.leaf or requires(leaf)):
        with accumulating:
            note_writer()
            held = meta.grad
            if recorder is not None:
                if held is not None:
                    meta.grad = faced(held + g)
                elif isinstance(leaf._array, OtherArray) or isinstance(getattr(g, "_array", None), OtherArray):
                    meta.grad = g.clone()
                else:
                    meta.grad = faced(_copied(leaf._array, g, SHARED, _copy))
            elif held is not None:
                meta.grad = _added(held, g)
            elif isinstance(g, OtherArray):
                meta.grad = plain(g.kept(own != SHARED))
            elif local.thread.transform is not None:
                meta.grad = faced(shown(plain(copy.run(g, _layout_of_gradient(leaf._array, g)))))
            elif own == ALONE and leaf._array.flags.c_contiguous:
                meta.grad = plain(g)
            elif isinstance(leaf._array, OtherArray):
                meta.grad = plain(np.array(g))
            else:
                meta.grad = _copied(leaf._array, g, own, _copy_plainly)
    if meta.post_accumulate and USER_HOOKS.call(meta.post_accumulate, leaf) is not leaf:
        raise noted(
            RuntimeError("Tensor post accumulate grad hooks should return None."),
            "hooks#result-of-post-accumulate-hook")


def _layout_of_gradient(like: Array, g: Any) -> Any:
    """The layout of the first gradient of a leaf: that of the leaf, or row by row if the leaf is not dense, or if its
    `data` has another shape by now.
    """
    return "C" if like.flags.c_contiguous or not dense(like) or like.shape != g.shape else steps(like)


def _copied(like: Array, g: Any, own: int, copying: Callable[[Any, Any], Any]) -> Any:
    """A copy of a leaf's first gradient, in the layout of the leaf's array, or row by row if that array is not dense.

    PyTorch makes such a copy if others hold the gradient or if its layout differs from the leaf's. It writes into
    memory of the leaf's layout, and `_version` counts this write. Copies that PyTorch does not make are not counted.
    """
    if type(g) is np.ndarray and own == SHARED and like.flags.c_contiguous:   # the usual case, with fewer calls
        array = row_major(g)
        written_once(array)
        return plain(array)
    if not isinstance(g, TensorBase):
        g = plain(g)
    copied = copying(g, _layout_of_gradient(like, g._array))
    if dense(like) and (own == SHARED or not _lie_alike(g._array, like)):
        written(copied._array, None)
    return copied


def _copy(g: TensorBase, order: Any) -> Any:
    return _copy_into(None, g, order)


def _copy_plainly(g: TensorBase, order: Any) -> Any:
    return plain(copy.run(g._array, order))


def _lie_alike(g: Array, like: Array) -> bool:
    """Whether a gradient has the strides of its leaf. A dimension of size 1 only must not be expanded."""
    return all([a == b if size != 1 else a for a, b, size in zip(g.strides, like.strides, g.shape)])


def _added(held: TensorBase, g: Any) -> Any:
    """The sum of a gradient that a leaf holds and another: the held tensor, which is added to in place.

    It is a new tensor if a sparse gradient is held and the other is dense. Raises RuntimeError if the memory cannot be
    written to.
    """
    if held._grad_meta is None and local.thread.transform is None:
        try:
            writing(held._array)
            np.add(held._array, g, out=held._array, casting="unsafe")
            written(held._array, None)
            return held
        except ValueError:                              # nothing was written; the checks below raise PyTorch's error
            pass
    if isinstance(held._array, OtherArray):
        total = held._array.added(g)
        return held if total is held._array else plain(total)
    check_writable(held, False)
    grad, local.thread.grad = local.thread.grad, False
    try:
        over(add, held, plain(g))
    finally:
        local.thread.grad = grad
    return held


def input_edge(tensor: Any) -> Any:
    """The edge whose gradient is asked for. Raises RuntimeError if the value is no tensor or requires no grad."""
    if isinstance(tensor, GradientEdge):
        return edge_at(tensor)
    if not isinstance(tensor, TensorBase):
        raise noted(
            RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}"),
            "backward#inputs-are-tensors")
    edge = edge_of(tensor)
    if edge is None:
        raise noted(
            RuntimeError("One of the differentiated Tensors does not require grad"),
            "backward#differentiated-tensor-requires-no-grad", instead="set requires_grad=True before the computation")
    return edge


def inputs_of(inputs: Any, asking: str) -> tuple[Any, ...]:
    """The tensors or edges whose gradients are asked for, given singly, in a sequence or as the values of a dict.

    Raises RuntimeError if there are none, TypeError for any other mapping.
    """
    if isinstance(inputs, (TensorBase, GradientEdge)):
        return (inputs,)
    if type(inputs) is not tuple and isinstance(inputs, Mapping):
        if type(inputs) is not dict:
            raise noted(
                TypeError(f"`inputs` argument to `{asking}` must be a dict, not {type(inputs).__name__}. Other "
                          "Mapping types are not supported."), "backward#inputs-of-grad-are-no-dict")
        inputs = inputs.values()
    found = tuple(inputs)
    if not found:
        raise noted(RuntimeError(f"`inputs` argument to `{asking}` cannot be empty."), "backward#inputs-empty")
    return found
