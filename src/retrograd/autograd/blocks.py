"""The blocks of a Jacobian, one for each output and input: row by row, or all rows or all columns in one batch.

A row is a backward pass from one element of an output. A column is a forward pass in the direction of one input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..foundations.dtypes import DIFFERENTIABLE, Array
from ..foundations.modes import kept_switches, local
from ..graph.repeated import repeated
from ..graph.route import Route
from ..ops.creation import full_beside
from ..ops.joining import stack
from ..ops.shape import unsafe_view
from ..tensors import transforms
from ..tensors.arguments.options import require_grad
from ..tensors.functions.shapes import joining
from ..tensors.recording.gradients import input_edge, root_edge, run_backward
from ..tensors.state.base import edge_of, plain, with_edge
from ..tensors.state.dispatch import handlers_see
from ..tensors.state.inference import refuse_inference_leaf
from ..tensors.tensor import Tensor
from . import strict as check
from .backward import grad

Tensors = tuple[Any, ...]


def detached(tensor: Tensor) -> Any:
    """The same memory without history. Unlike `detach`, it keeps the tangents of transforms that are in effect."""
    if handlers_see(tensor):
        return tensor.detach()
    return with_edge(tensor._array, None)


def detached_alike(tensor: Tensor) -> Any:
    """`detached`, but of the class that a program has derived from Tensor."""
    return tensor.detach() if check.calls_are_seen(tensor) else detached(tensor)


def leaf(tensor: Tensor) -> Any:
    """The same memory as a new leaf that requires grad. Raises RuntimeError for a dtype without gradients."""
    refuse_inference_leaf(tensor)
    alone = detached_alike(tensor)
    if alone._array.dtype not in DIFFERENTIABLE:
        alone.requires_grad_()                             # raises
    require_grad(alone)
    return alone


def dummies(tensors: Tensors) -> Tensors:
    """Zeros that require grad: cotangents to differentiate by. Their values do not matter."""
    made = tuple([check.zeros_like(t) for t in tensors])
    for zero in made:
        require_grad(zero)
    return made


def gradients(outputs: Sequence[Any], inputs: Tensors, cotangents: Tensors | None, record: bool) -> Tensors:
    """The gradients of the outputs that have a history. None for an input that no output depends on."""
    pairs = [(out, None if cotangents is None else cotangents[i]) for i, out in enumerate(outputs)
             if out is not None and edge_of(out) is not None]
    if not pairs:
        return (None,) * len(inputs)
    return grad([out for out, _ in pairs], inputs, [g for _, g in pairs], create_graph=record, allow_unused=True)


def _cotangents(out: Tensor) -> Iterator[Array]:
    """A unit vector for each element of a tensor, in the tensor's shape."""
    array = out._array
    for j in range(array.size):
        basis = np.zeros(array.shape, array.dtype)
        basis.reshape(-1)[j] = 1
        yield basis


def _passes(out: Tensor, edges: list[Any], record: bool) -> Iterator[dict[Any, Any]]:
    """The gradients of each element of `out` along these edges, as tensors."""
    root = root_edge(out, 0)
    route = Route([root], edges, True)
    once = None if record or out._array.size < 2 else repeated(route, root)
    for basis in _cotangents(out):
        if once is not None:
            yield {edge: plain(g) for edge, g in once(basis).items()}
        else:
            yield run_backward([(root, plain(basis))], retain_graph=True, create_graph=record, inputs=edges,
                               capture=True, route=route)


def rows(out: Tensor, xs: Tensors, number: int | None) -> Tensors:
    """The Jacobian of one output by each input, with one pass for each row.

    In strict mode `number` is the number of the output, and an absent row raises RuntimeError. Otherwise `number` is
    None.
    """
    size, shape = out._array.size, out._array.shape
    if local.thread.transform is not None and size and edge_of(out) is not None:
        return _rows_on_the_seam(out, xs, number)
    blocks = [np.zeros((size, *x._array.shape), x._array.dtype) for x in xs]
    if edge_of(out) is not None:
        edges = [input_edge(x) for x in xs]
        for j, found in enumerate(_passes(out, edges, False)):
            for i, edge in enumerate(edges):
                row = found.get(edge)
                if row is not None:
                    blocks[i][j] = row._array
                elif number is not None:
                    raise check.independent(number, i)
    return tuple([plain(block.reshape(shape + x._array.shape)) for block, x in zip(blocks, xs)])


def _rows_on_the_seam(out: Any, xs: Tensors, number: int | None) -> Tensors:
    """`rows`, by an operator that joins the rows, whose arrays may not be NumPy's."""
    edges, columns = [input_edge(x) for x in xs], list[list[Any]]([] for _ in xs)
    for found in _passes(out, edges, False):
        for i, (edge, x) in enumerate(zip(edges, xs)):
            row = found.get(edge)
            if row is None and number is not None:
                raise check.independent(number, i)
            columns[i].append(full_beside(x._array, x._array.shape, x._array.dtype, 0) if row is None else row._array)
    return tuple([plain(unsafe_view.run(stack.run(column, 0), out._array.shape + x._array.shape))
                  for column, x in zip(columns, xs)])


def recorded_rows(out: Tensor, xs: Tensors, number: int | None) -> list[list[Any]]:
    """The rows of `rows` as a list for each input, recorded so that they can be differentiated again."""
    by_input: list[list[Any]] = [[] for _ in xs]
    edges = [] if edge_of(out) is None else [input_edge(x) for x in xs]
    for found in _passes(out, edges, True) if edges else [{}] * out._array.size:
        for i, x in enumerate(xs):
            row = found.get(edges[i]) if edges else None
            if row is None:
                if number is not None:
                    raise check.independent(number, i)
                row = check.zeros_like(x)
            elif number is not None and edge_of(row) is None:
                raise check.constant("jacobian", number)
            by_input[i].append(row)
    return by_input


def called_rows(out: Any, xs: Tensors, number: int | None, record: bool) -> Tensors:
    """`rows`, by the calls that PyTorch makes, for handlers below autograd to see."""
    by_input: tuple[list[Any], ...] = tuple([[] for _ in xs])
    for _ in range(out._array.size):
        element = out.reshape(-1)[len(by_input[0])]
        found = (None,) * len(xs) if edge_of(element) is None else grad(
            (element,), xs, retain_graph=True, create_graph=record, allow_unused=True)
        for i, (row, x) in enumerate(zip(found, xs)):
            if row is None and number is not None:
                raise check.independent(number, i)
            if record and number is not None and edge_of(row) is None:
                raise check.constant("jacobian", number)
            by_input[i].append(check.zeros_like(x) if row is None else row)
    return tuple([joining.stack(each).view((*out.shape, *x.shape)) for each, x in zip(by_input, xs)])


def stacked(found: list[list[list[Any]]], outputs: Tensors, xs: Tensors) -> Tensors:
    """Recorded rows, by output and input, as blocks; each block is a tensor of its own."""
    return tuple([tuple([_block(np.stack(block) if block else None, out, x) for block, x in zip(by_input, xs)])
                  for by_input, out in zip(found, outputs)])


def rows_together(outputs: Tensors, xs: Tensors, record: bool) -> Tensors:
    """The Jacobians of all outputs by all inputs, by output and input, with one pass for the batch of all rows."""
    at = _starts(outputs)
    live = [i for i, out in enumerate(outputs) if edge_of(out) is not None]
    found: Sequence[Any] = [None] * len(xs)
    if live:
        found = grad([outputs[i] for i in live], xs, [units(outputs[i], at[-1], at[i]) for i in live],
                     create_graph=record, allow_unused=True, is_grads_batched=True)
    if len(outputs) == 1 and not record:                   # so nobody asks how the rows were cut
        return (tuple([_block(whole, outputs[0], x) for whole, x in zip(found, xs)]),)
    return tuple([tuple([_block(None if whole is None else whole[start:end], out, x) for whole, x in zip(found, xs)])
                  for out, start, end in zip(outputs, at, at[1:])])


def columns_together(func: Callable[..., Any], xs: Tensors, outputs_of: Callable[[Any], Tensors],
                     record: bool) -> list[list[Any]]:
    """The Jacobians of all outputs by all inputs, by output and input, with one forward pass for all columns.

    `outputs_of` takes what `func` returned, and returns a tuple of tensors.
    """
    at, crossing = _starts(xs), transforms.crossing
    batch, level = transforms.batching.BatchOfPasses(at[-1]), transforms.forward.ForwardLevel()
    with kept_switches():
        with crossing.entered(batch):
            directions = [crossing.enter_batch(batch, units(x, at[-1], start), 0) for x, start in zip(xs, at)]
            with crossing.entered(level):
                outputs = outputs_of(func(*[crossing.make_dual(level, x, t) for x, t in zip(xs, directions)]))
            tangents = [crossing.tangent_part(level, out) for out in outputs]
        whole = [crossing.leave_batch(batch, tangent, tangent._array.ndim) for tangent in tangents]
    blocks = [[tangent[..., start:end].reshape((*tangent.shape[:-1], *x.shape))
               for x, start, end in zip(xs, at, at[1:])] for tangent in whole]
    return blocks if record else [[detached_alike(block) for block in row] for row in blocks]


def _starts(tensors: Tensors) -> list[int]:
    """Where the elements of each tensor start among those of all, and how many there are in all."""
    return [*accumulate([tensor._array.size for tensor in tensors], initial=0)]


def units(tensor: Tensor, count: int, start: int) -> Any:
    """A batch of `count` arrays like the tensor: from number `start` on a unit vector for each element, else zeros.

    If `start` is negative, the vectors for the first elements are left out.
    """
    array = tensor._array
    return plain(np.eye(count, array.size, -start, array.dtype).reshape((count, *array.shape)))


def _block(found: Any, out: Tensor, x: Tensor) -> Any:
    shape = out._array.shape + x._array.shape
    if found is None:
        return plain(np.zeros(shape, x._array.dtype))
    return in_shape(found, shape)


def in_shape(tensor: Tensor, shape: tuple[int, ...]) -> Any:
    """A view of a tensor in a shape; the tensor itself, if it has no history and would not lie otherwise."""
    as_it_is = tensor._array.shape == shape and edge_of(tensor) is None and 1 not in shape     # 1 gets another stride
    return tensor if as_it_is else tensor.view(shape)
