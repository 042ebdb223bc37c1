"""`autograd.backward` and `autograd.grad`: passes over the graph from several roots, to all leaves or to chosen inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.node import Node
from ..tensor.gradients import input_edge, run_backward
from ..tensor.state import State, plain

TensorOrTensors = Any


def _sequence(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, (State, Node)) else tuple(value)


def _cotangents(grads: Any, count: int) -> tuple[Any, ...]:
    """One cotangent for each root; None stands for an implicit one."""
    if grads is None:
        return (None,) * count
    found = (grads,) if isinstance(grads, State) else tuple(grads)
    if len(found) != count:
        raise RuntimeError(f"got {count} tensors and {len(found)} gradients")
    return found


def backward(tensors: TensorOrTensors, grad_tensors: TensorOrTensors | None = None, retain_graph: bool | None = None,
             create_graph: bool = False, grad_variables: TensorOrTensors | None = None,
             inputs: TensorOrTensors | None = None) -> None:
    """Accumulate the gradients of `tensors` into the leaves of their graph, or into `inputs` only.

    `grad_tensors` are the cotangents, each of its tensor's shape; None for a scalar. The sum of all contributions
    is accumulated. Raises RuntimeError as `Tensor.backward` does.
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                               "Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    edges = None
    if inputs is not None:
        edges = [input_edge(t) for t in _sequence(inputs)]
        if not edges:
            raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
    roots = _sequence(tensors)
    run_backward(roots, _cotangents(grad_tensors, len(roots)), retain_graph=retain_graph, create_graph=create_graph,
                 inputs=edges)


def grad(outputs: TensorOrTensors, inputs: TensorOrTensors, grad_outputs: TensorOrTensors | None = None,
         retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
         allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` (weighted by `grad_outputs`) with respect to `inputs`, as a tuple.

    Nothing is accumulated. With `create_graph` the gradients can be differentiated again. An input that the outputs
    do not depend on raises RuntimeError; its gradient is None with `allow_unused`, zeros with `materialize_grads`.
    With `is_grads_batched` each of `grad_outputs` has a leading batch dimension, and so has each gradient.

    >>> import retrograd as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if not only_inputs:
        raise ValueError("only_inputs=False is not supported: use autograd.backward for leaves besides `inputs`")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    roots, targets = _sequence(outputs), _sequence(inputs)
    cotangents = _cotangents(grad_outputs, len(roots))
    if is_grads_batched:
        return _batched(roots, targets, cotangents, create_graph, bool(allow_unused), materialize_grads)
    edges = [input_edge(t) for t in targets]
    found = run_backward(roots, cotangents, retain_graph=retain_graph, create_graph=create_graph, inputs=edges,
                         capture=True)
    gradients = [found.get(edge) for edge in edges]
    if materialize_grads:
        return tuple(_zeros(t) if g is None else g for g, t in zip(gradients, targets, strict=True))
    if not allow_unused and any(g is None for g in gradients):
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph. Set "
                           "allow_unused=True if this is the desired behavior. (It is input "
                           f"{gradients.index(None)}.)")
    return tuple(gradients)


def _zeros(target: Any) -> Any:
    edge = input_edge(target)
    return plain(np.zeros(edge.shape, edge.dtype))


def _batched(roots: Sequence[Any], targets: Sequence[Any], cotangents: Sequence[Any], create_graph: bool,
             allow_unused: bool, materialize: bool) -> tuple[Any, ...]:
    """One pass for each entry of the batch dimension, stacked."""
    count = len(cotangents[0])
    rows = [grad(roots, targets, tuple(None if c is None else c[i] for c in cotangents), retain_graph=True,
                 create_graph=create_graph, allow_unused=allow_unused, materialize_grads=materialize)
            for i in range(count)]
    columns = zip(*rows, strict=True)
    return tuple(None if column[0] is None else np.stack(column) for column in columns)
