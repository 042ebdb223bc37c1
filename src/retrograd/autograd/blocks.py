"""The blocks of a Jacobian, one for each output and input, computed row by row or column by column.

A row is a backward pass from one element of an output. A column is the "double backward trick": the product of a
cotangent with the Jacobian is linear in the cotangent, so the gradient of the product by the cotangent is a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tensors.arguments.options import require_grad
from ..tensors.recording.gradients import input_edge, run_backward, starting
from ..tensors.state.base import edge_of, plain, with_edge
from . import strict as check
from .backward import grad

Tensors = tuple[Any, ...]


def detached(tensor: Any) -> Any:
    """The same memory without history."""
    return with_edge(tensor._array, None)


def leaf(tensor: Any) -> Any:
    """The same memory as a new leaf that requires grad. Raises RuntimeError for a dtype without gradients."""
    return detached(tensor).requires_grad_()


def dummies(tensors: Tensors) -> Tensors:
    """Zeros that require grad: cotangents to differentiate by. Their values do not matter."""
    zeros = tuple([check.zeros_like(t) for t in tensors])
    for zero in zeros:
        require_grad(zero)
    return zeros


def gradients(outputs: Sequence[Any], inputs: Tensors, cotangents: Tensors | None, record: bool) -> Tensors:
    """The gradients of the outputs that have a history. None for an input that no output depends on."""
    pairs = [(out, None if cotangents is None else cotangents[i]) for i, out in enumerate(outputs)
             if out is not None and edge_of(out) is not None]
    if not pairs:
        return (None,) * len(inputs)
    return grad([out for out, _ in pairs], inputs, [g for _, g in pairs], create_graph=record, allow_unused=True)


def _pass(out: Any, edges: list[Any], j: int, record: bool) -> dict[Any, Any]:
    """The gradients of element j of `out` along these edges."""
    basis = np.zeros(out._array.shape, out._array.dtype)
    basis.reshape(-1)[j] = 1
    starts = starting([out], [plain(basis)])
    return run_backward(starts, retain_graph=True, create_graph=record, inputs=edges, capture=True)


def rows(out: Any, xs: Tensors, number: int | None) -> Tensors:
    """The Jacobian of one output by each input, with one pass for each row.

    In strict mode `number` is the number of the output, and an absent row raises RuntimeError. Otherwise `number` is
    None.
    """
    size, shape = out._array.size, out._array.shape
    blocks = [np.zeros((size, *x._array.shape), x._array.dtype) for x in xs]
    if edge_of(out) is not None:
        edges = [input_edge(x) for x in xs]
        for j in range(size):
            found = _pass(out, edges, j, False)
            for i, edge in enumerate(edges):
                row = found.get(edge)
                if row is not None:
                    blocks[i][j] = row._array
                elif number is not None:
                    raise check.independent(number, i)
    return tuple([plain(block.reshape(shape + x._array.shape)) for block, x in zip(blocks, xs)])


def recorded_rows(out: Any, xs: Tensors, number: int | None) -> list[list[Any]]:
    """The rows of `rows` as a list for each input, recorded so that they can be differentiated again."""
    by_input: list[list[Any]] = [[] for _ in xs]
    edges = [] if edge_of(out) is None else [input_edge(x) for x in xs]
    for j in range(out._array.size):
        found = _pass(out, edges, j, True) if edges else {}
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


def stacked(found: list[list[list[Any]]], outputs: Tensors, xs: Tensors) -> Tensors:
    """Recorded rows, by output and input, as blocks; each block is a tensor of its own."""
    return tuple([tuple([_block(np.stack(block) if block else None, out, x) for block, x in zip(by_input, xs)])
                  for by_input, out in zip(found, outputs)])


def stacked_together(found: list[list[list[Any]]], outputs: Tensors, xs: Tensors) -> Tensors:
    """Recorded rows as blocks. The blocks of one input are parts of one tensor, as after one batched pass."""
    by_input: list[list[Any]] = []
    for i, x in enumerate(xs):
        every = [row for by_output in found for row in by_output[i]]
        whole: Any = np.stack(every) if every else None
        start, blocks = 0, []
        for out in outputs:
            end = start + out._array.size
            blocks.append(_block(None if whole is None else whole[start:end], out, x))
            start = end
        by_input.append(blocks)
    return tuple(zip(*by_input))


def _block(found: Any, out: Any, x: Any) -> Any:
    shape = out._array.shape + x._array.shape
    return plain(np.zeros(shape, x._array.dtype)) if found is None else found.view(shape)


def columns(out: Any, xs: Tensors, record: bool) -> list[Any]:
    """The Jacobian of one output by each input, with one pass for each column. A list, as in PyTorch."""
    shapes = [out._array.shape + x._array.shape for x in xs]
    blocks: list[Any] = [plain(np.zeros(shape, out._array.dtype)) for shape in shapes]
    if edge_of(out) is None:
        return blocks
    (dummy,) = dummies((out,))
    for i, transposed in enumerate(gradients((out,), xs, (dummy,), True)):
        if transposed is not None and edge_of(transposed) is not None and transposed._array.size:
            edge = input_edge(dummy)
            found = [_pass(transposed, [edge], k, record).get(edge) for k in range(transposed._array.size)]
            whole: Any = np.stack([check.zeros_like(out) if c is None else c for c in found], axis=-1)
            blocks[i] = whole.reshape(shapes[i])
    return blocks
