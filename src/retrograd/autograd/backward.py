"""`autograd.backward` and `autograd.grad`: passes from several roots, to all leaves or to chosen inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..foundations.errors import noted, warn
from ..foundations.modes import kept_switches, local
from ..graph.node import GradientEdge
from ..ops.creation import full_beside
from ..tensors import transforms
from ..tensors.arguments.options import require_grad
from ..tensors.recording.gradients import (
    implicit,
    input_edge,
    inputs_of,
    refuse_inside,
    root_value,
    run_backward,
    starting,
)
from ..tensors.recording.hooks import accumulating_edges, warn_of_cycle
from ..tensors.recording.public import public
from ..tensors.state.base import TensorBase, plain
from ..tensors.state.dispatch import DISPATCH, UNHANDLED

TensorOrTensors = Any


def _sequence(value: Any) -> tuple[Any, ...]:
    """A tensor or a GradientEdge as a tuple of one element; any other value as a tuple of its elements."""
    return (value,) if isinstance(value, (TensorBase, GradientEdge)) else tuple(value)


def _cotangents(grads: Any, count: int) -> tuple[Any, ...]:
    """One cotangent for each root. None stands for an implicit cotangent."""
    return (None,) * count if grads is None else _sequence(grads)


def backward(tensors: TensorOrTensors, grad_tensors: TensorOrTensors | None = None, retain_graph: bool | None = None,
             create_graph: bool = False, grad_variables: TensorOrTensors | None = None,
             inputs: TensorOrTensors | None = None) -> None:
    """Accumulate the gradients of `tensors` into the leaves of their graph, or into `inputs` only.

    `grad_tensors` are the cotangents, each with the shape of its tensor; a scalar may have None. The gradients of all
    tensors add up. Raises RuntimeError as `Tensor.backward` does.
    """
    given = tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs
    if DISPATCH.fallback is not None and DISPATCH.fallback(backward, given, {}) is not UNHANDLED:
        return
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise noted(
                RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                             "`backward()`. Please only use `grad_tensors`."), "backward#grad-variables-deprecated")
        grad_tensors = grad_variables
    refuse_inside()
    roots, targets = _sequence(tensors), None if inputs is None else _sequence(inputs)
    starts = starting(roots, _cotangents(grad_tensors, len(roots)))
    try:
        run_backward(starts, retain_graph=retain_graph, create_graph=create_graph,
                     inputs=None if targets is None else accumulating_edges(targets))
    finally:
        if create_graph:
            warn_of_cycle()


@public()
def grad(outputs: TensorOrTensors, inputs: TensorOrTensors, grad_outputs: TensorOrTensors | None = None,
         retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
         allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> Any:
    """The gradients of the sum of `outputs` (weighted by `grad_outputs`) with respect to `inputs`, as a tuple.

    If `inputs` is a dict of tensors, the result is a dict of their gradients.

    The call accumulates nothing. With `create_graph` the gradients can be differentiated again. If the outputs do not
    depend on an input, the call raises RuntimeError; with `allow_unused` the gradient is None instead, and with
    `materialize_grads` it is zeros. With `is_grads_batched`, each of `grad_outputs` and each gradient has a leading
    batch dimension.

    >>> import retrograd as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if not only_inputs:
        warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
             "gradient for other parts of the graph, please use torch.autograd.backward.", FutureWarning)
    if materialize_grads and allow_unused is False:
        raise noted(
            ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                       "allow_unused=False."), "backward#allow-unused-with-materialize-grads")
    roots, targets = _sequence(outputs), inputs_of(inputs, "grad()")
    cotangents = _cotangents(grad_outputs, len(roots))
    gradients = (_batched if is_grads_batched else _single)(
        roots, targets, cotangents, retain_graph=retain_graph, create_graph=create_graph, allow_unused=allow_unused,
        materialize_grads=materialize_grads)
    return dict(zip(inputs, gradients)) if type(inputs) is dict else gradients


def _single(roots: Sequence[Any], targets: Sequence[Any], cotangents: Sequence[Any], *, retain_graph: bool | None,
            create_graph: bool, allow_unused: bool | None, materialize_grads: bool) -> tuple[Any, ...]:
    """Run one pass, and treat absent gradients as the options say."""
    starts = starting(roots, cotangents)
    edges = [input_edge(t) for t in targets]
    found = run_backward(starts, retain_graph=retain_graph, create_graph=create_graph, inputs=edges, capture=True)
    gradients = [found.get(edge) for edge in edges]
    if materialize_grads:
        if any(g is None and isinstance(target, GradientEdge) for g, target in zip(gradients, targets)):
            raise noted(
                RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge"),
                "backward#zeros-for-gradient-edge", instead="give the tensor")
        return tuple([_zeros(edge, create_graph) if g is None else g for g, edge in zip(gradients, edges)])
    if not allow_unused and any(g is None for g in gradients):
        raise noted(
            RuntimeError(f"The differentiated Tensor at index {gradients.index(None)} appears to not have been used "
                         "in the graph. Set allow_unused=True if this is the desired behavior."),
            "backward#unused-tensor")
    return tuple(gradients)


def _zeros(edge: Any, create_graph: bool) -> TensorBase:
    """Zeros in the place of a gradient. If a graph is made, they are a leaf of it, as in PyTorch."""
    zeros: TensorBase = plain(full_beside(None, edge.shape, edge.dtype, 0))
    if create_graph:
        require_grad(zeros)
    return zeros


def _batched(roots: Sequence[Any], targets: Sequence[Any], cotangents: Sequence[Any], *, retain_graph: bool | None,
             **options: Any) -> tuple[Any, ...]:
    """Run one pass for the whole batch."""
    materialize = options.pop("materialize_grads")
    options["allow_unused"] = options["allow_unused"] or materialize
    sizes: list[int] = []
    for i, (root, cotangent) in enumerate(zip(roots, cotangents)):
        value = root_value(root, i)
        if not isinstance(cotangent, TensorBase):
            implicit(value, cotangent, i)
            raise noted(
                ValueError("vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a "
                           "Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."),
                "backward#batch-of-no-tensor",
                given=f"with is_grads_batched=True every output needs a cotangent; grad_output[{i}] is None")
        shape = tuple(cotangent.shape)
        if isinstance(root, GradientEdge) and shape[1:] != value.shape:
            raise noted(
                RuntimeError("Batched grads are not supported with GradientEdge"),
                "backward#batches-for-gradient-edge",
                given=f"a gradient of shape {list(shape)} for an edge of shape {list(value.shape)}")
        sizes.append(_batch_size(shape, value.shape, i))
    if len({*sizes}) > 1:
        raise noted(
            ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got "
                       f"sizes {sizes} for the mapped dimension"), "backward#batches-of-one-size")
    crossing = transforms.crossing
    level = transforms.batching.BatchOfPasses(sizes[0] if sizes else 0)
    with kept_switches():
        with crossing.entered(level):
            rows = [crossing.enter_batch(level, c, 0) for c in cotangents]
            found = _single(roots, targets, rows, retain_graph=retain_graph, materialize_grads=False, **options)
        absent = [_zeros(input_edge(t), options["create_graph"]) if materialize else None for t in targets]
        return tuple([none if g is None else crossing.leave_batch(level, g, 0)
                      for g, none in zip(found, absent, strict=True)])


def _batch_size(shape: tuple[int, ...], expected: tuple[int, ...], i: int) -> int:
    """The first dimension of a cotangent. Raises if the other dimensions are not the shape of the output.

    PyTorch's message shows the shape without its first two dimensions; a note shows all of the shape.
    """
    if not shape:
        raise noted(
            IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                       "convert a 0-dim tensor to a number"), "backward#batch-of-gradients",
            because=f"with is_grads_batched=True grad_output[{i}] needs a leading batch dimension")
    if shape[1:] != expected:
        raise noted(
            RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
                         "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
                         f"corresponding output, but a mismatch was detected: grad_output[{i}] has a shape of "
                         f"torch.Size({list(shape[2:])}) and output[{i}] has a shape of torch.Size({list(expected)}). "
                         "If you only want some tensors in `grad_output` to be considered batched, consider using "
                         "vmap."), "backward#batch-of-gradients",
            given=f"grad_output[{i}] of shape {list(shape)}, output[{i}] of shape {list(expected)}")
    return shape[0]


def _is_checkpoint_valid() -> bool:
    """Whether the pass that runs, and all passes that the pass runs inside, go to all leaves. True outside of a pass.

    A reentrant checkpoint runs a backward pass of its own, which knows no chosen inputs.
    """
    walk = local.thread.walk
    while walk is not None:
        if walk.wanted is not None:
            return False
        walk = walk.outer
    return True
