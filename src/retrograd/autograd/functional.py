"""torch.autograd.functional: Jacobians, Hessians, and the products of both with vectors, of a Python function.

Everything is made of backward passes. A product with a tangent (jvp, hvp, a column of a Jacobian) is the "double
backward trick": a vector-Jacobian product is linear in its cotangent, so its derivative by the cotangent is the
transposed product. This module must not know how the engine walks the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..modes import local
from ..tensor.gradients import input_edge, run_backward
from ..tensor.options import require_grad
from ..tensor.state import State, edge_of, plain, with_edge
from . import strict as check
from .backward import grad
from .grad_mode import enable_grad

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]

Tensors = tuple[Any, ...]

OUTPUTS = "outputs of the user-provided function"
REVERSE, FORWARD = "reverse-mode", "forward-mode"


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, and the product of the cotangent `v` (like the outputs) with its Jacobian (like the inputs).

    `v` may be left out where the output is a single number. With `create_graph` both results can be differentiated.
    With `strict` an input that an output does not depend on raises RuntimeError; otherwise its product is zeros.

    >>> import retrograd as torch
    >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1., 2.]), torch.tensor([1., 10.]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, xs = _as_tuple(inputs, "inputs", "vjp")
        xs = _prepared(xs, create_graph, True)
        several_outputs, outputs = _as_tuple(func(*xs), OUTPUTS, "vjp")
        if strict:
            check.require_outputs(outputs)
        if v is not None:
            cotangents = _like(v, outputs, several_outputs, create_graph, "vjp")
        elif len(outputs) == 1 and _count(outputs[0]) == 1:
            cotangents = None
        else:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor "
                               "with a single element.")
    found = _gradients(outputs, xs, cotangents, create_graph)
    product = check.filled(found, xs, strict, create_graph, check.BACK)
    return _result(outputs, several_outputs, create_graph), _result(product, several, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, and the product of its Jacobian with the tangent `v` (like the inputs; the product, like the
    outputs).

    `v` may be left out where the input is a single number; `create_graph` and `strict` are as for `vjp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.jvp(lambda x: x * x, torch.tensor([1., 2.]), torch.tensor([1., 10.]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, xs = _as_tuple(inputs, "inputs", "jvp")
        xs = _prepared(xs, create_graph, True)
        tangents = _tangents(v, xs, several, create_graph, "jvp", "The vector v can only be None if the input to the "
                             "user-provided function is a single Tensor with a single element.")
        several_outputs, outputs = _as_tuple(func(*xs), OUTPUTS, "jvp")
        if strict:
            check.require_outputs(outputs)
        dummies = _dummies(outputs)
        by_inputs = _gradients(outputs, xs, dummies, True)
        if strict:
            check.require_dependence(by_inputs)
    found = _gradients(by_inputs, dummies, tangents, create_graph)
    product = check.filled(found, outputs, strict, create_graph, check.BACK_TRICK)
    return _result(outputs, several_outputs, create_graph), _result(product, several_outputs, create_graph)


def jacobian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
             strategy: str = REVERSE) -> Any:
    """The Jacobian of `func`: for each output and input a tensor of the output's shape followed by the input's.

    One tensor where `func` takes and returns one; a tuple over the outputs, the inputs, or both (in this order)
    where there are tuples. `strategy` "forward-mode" finds columns in place of rows and is for few inputs; it needs
    `vectorize`, which otherwise changes nothing in the result. `create_graph` and `strict` are as for `vjp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in (FORWARD, REVERSE):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: if your function '
                             'has more outputs than inputs, "forward-mode" tends to be quicker; otherwise use '
                             '"reverse-mode".')
    if strategy == FORWARD:
        for name, given in (("create_graph", create_graph), ("strict", strict)):
            if given:
                kind = NotImplementedError if name == "create_graph" else RuntimeError
                raise kind(f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` are not '
                           f'supported together (yet). Please either set `{name}=False` or `strategy="reverse-mode"`.')
        return _by_columns(func, inputs, vectorize)
    with enable_grad():
        several, xs = _as_tuple(inputs, "inputs", "jacobian")
        xs = _prepared(xs, create_graph, True)
        several_outputs, outputs = _as_tuple(func(*xs), OUTPUTS, "jacobian")
        if strict:
            check.require_outputs(outputs)
            if vectorize:
                raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                                   "supported together. Please either set `strict=False` or `vectorize=False`.")
        if not vectorize:
            check.require_real(outputs)
        if create_graph:
            rows = [_recorded_rows(out, xs, i if strict else None) for i, out in enumerate(outputs)]
            blocks = _stacked_together(rows, outputs, xs) if vectorize else _stacked(rows, outputs, xs)
        else:
            blocks = tuple([_rows(out, xs, i if strict else None) for i, out in enumerate(outputs)])
    return _nested(blocks, several_outputs, several)


def hessian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = REVERSE) -> Any:
    """The Hessian of `func`, which returns a single number: the Jacobian of its gradient.

    One tensor for one input, of its shape twice; a tuple of tuples where `inputs` is a tuple. The options are those
    of `jacobian`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.hessian(lambda x: x * x * x, torch.tensor(2.))
    tensor(12.)
    """
    several, xs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in (FORWARD, REVERSE):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def single(*args: Any) -> Any:
        out = func(*args)
        in_tuple, outputs = _as_tuple(out, OUTPUTS, "hessian")
        if strict:
            check.require_outputs(outputs)
        check.require_single(in_tuple, outputs, "hessian")
        return out.squeeze()

    def gradient(*args: Any) -> Tensors:
        found: Tensors = jacobian(single, args, create_graph=True)
        if strict:
            check.require_second_order(found)
        return found

    if outer_jacobian_strategy == FORWARD and not strict and not create_graph:
        blocks = _by_columns(gradient, xs, vectorize, record=True)
    else:
        blocks = jacobian(gradient, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if several else blocks[0][0]


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, which is a single number, and the product of the vector `v` (like the inputs) with its Hessian.

    `v` may be left out where the input is a single number; `create_graph` and `strict` are as for `vjp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.vhp(lambda x: (x * x * x).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, xs, tangents, several_outputs, outputs, gradient = _first_order(func, inputs, v, create_graph, strict, "vhp")
    found = _gradients(gradient, xs, tangents, create_graph)
    product = check.filled(found, xs, strict, create_graph, check.DOUBLE_BACK)
    return _result(outputs, several_outputs, create_graph), _result(product, several, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, which is a single number, and the product of its Hessian with the vector `v` (like the inputs).

    The Hessian is symmetric where `func` is smooth, and then `vhp` gives the same with less work. The options are
    those of `vhp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.hvp(lambda x: (x * x * x).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, xs, tangents, several_outputs, outputs, gradient = _first_order(func, inputs, v, create_graph, strict, "hvp")
        dummies = _dummies(xs)
        doubled = _gradients(gradient, xs, dummies, True)
    found = _gradients(doubled, dummies, tangents, create_graph)
    product = check.filled(found, xs, strict, create_graph, check.DOUBLE_BACK_TRICK)
    return _result(outputs, several_outputs, create_graph), _result(product, several, create_graph)


def _first_order(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> tuple[Any, ...]:
    """What the products with a Hessian begin with: inputs, vector, outputs and the recorded gradient."""
    several, xs = _as_tuple(inputs, "inputs", name)
    xs = _prepared(xs, create_graph, True)
    tangents = _tangents(v, xs, several, create_graph, name, "The vector v can only be None if the input to the "
                         "user-provided function is a single Tensor with a single element.")
    several_outputs, outputs = _as_tuple(func(*xs), OUTPUTS, name)
    if strict:
        check.require_outputs(outputs)
    check.require_single(several_outputs, outputs, name)
    gradient = _gradients(outputs, xs, None, True)
    if strict:
        check.require_second_order(gradient)
    return several, xs, tangents, several_outputs, outputs, gradient


# Rows and columns of a Jacobian


def _unit(like: Any, j: int) -> Any:
    """The j-th vector of the standard basis, as a cotangent for `like`."""
    array = np.zeros(like._array.shape, like._array.dtype)
    array.reshape(-1)[j] = 1
    return plain(array)


def _pass(out: Any, edges: list[Any], j: int, record: bool) -> dict[Any, Any]:
    return run_backward([out], [_unit(out, j)], retain_graph=True, create_graph=record, inputs=edges, capture=True)


def _rows(out: Any, xs: Tensors, number: int | None) -> Tensors:
    """The Jacobian of one output by each input: one pass for each row. In strict mode `number` is the output's, else None."""
    blocks = [np.zeros((out._array.size, *x._array.shape), x._array.dtype) for x in xs]
    if edge_of(out) is not None:
        edges = [input_edge(x) for x in xs]
        for j in range(out._array.size):
            found = _pass(out, edges, j, False)
            for i, edge in enumerate(edges):
                row = found.get(edge)
                if row is not None:
                    blocks[i][j] = row._array
                elif number is not None:
                    raise check.independent(number, i)
    return tuple([plain(block.reshape(out._array.shape + x._array.shape)) for block, x in zip(blocks, xs)])


def _recorded_rows(out: Any, xs: Tensors, number: int | None) -> list[list[Any]]:
    """As `_rows`, for each input a list of tensors that can be differentiated again."""
    columns: list[list[Any]] = [[] for _ in xs]
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
            columns[i].append(row)
    return columns


def _stacked(rows: list[list[list[Any]]], outputs: Tensors, xs: Tensors) -> Tensors:
    """The rows by output and input as blocks, each on its own."""
    return tuple([tuple([_block(np.stack(found) if found else None, out, x) for found, x in zip(by_input, xs)])
                  for by_input, out in zip(rows, outputs)])


def _stacked_together(rows: list[list[list[Any]]], outputs: Tensors, xs: Tensors) -> Tensors:
    """The rows as blocks that are parts of one tensor for each input, as they are from one batched pass."""
    by_input: list[list[Any]] = []
    for i, x in enumerate(xs):
        found = [row for by_output in rows for row in by_output[i]]
        whole = np.stack(found) if found else None
        start, blocks = 0, []
        for out in outputs:
            part = None if whole is None else whole[start : start + out._array.size]
            blocks.append(_block(part, out, x))
            start += out._array.size
        by_input.append(blocks)
    return tuple(zip(*by_input))


def _block(rows: Any, out: Any, x: Any) -> Any:
    shape = out._array.shape + x._array.shape
    return plain(np.zeros(shape, x._array.dtype)) if rows is None else rows.view(shape)


def _by_columns(func: Callable, inputs: Any, vectorize: bool, record: bool = False) -> Any:
    """The Jacobian by columns. It can be differentiated where an input requires grad, or with `record`."""
    several, given = _as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
                                  "only implemented for `vectorize=True`.")
    record = record or (local.here.grad and any([edge_of(x) is not None for x in given]))
    with enable_grad():
        xs = tuple([x.view_as(x) if record and edge_of(x) is not None else _leaf(x) for x in given])
        several_outputs, outputs = _as_tuple(func(*xs), "outputs", "jacobian")
        blocks = [_columns(out, xs, record) for out in outputs]
    return _nested(blocks, several_outputs, several)


def _columns(out: Any, xs: Tensors, record: bool) -> list[Any]:
    """The Jacobian of one output by each input, one pass for each column. A list, as it is in PyTorch."""
    shapes = [out._array.shape + x._array.shape for x in xs]
    blank = [plain(np.zeros(shape, out._array.dtype)) for shape in shapes]
    if edge_of(out) is None:
        return blank
    dummy = _dummies((out,))[0]
    transposed = _gradients((out,), xs, (dummy,), True)
    blocks: list[Any] = []
    for i, (by_input, shape) in enumerate(zip(transposed, shapes)):
        if by_input is None or edge_of(by_input) is None or not by_input._array.size:
            blocks.append(blank[i])
            continue
        edge = input_edge(dummy)
        columns = [_pass(by_input, [edge], k, record).get(edge) for k in range(by_input._array.size)]
        stacked = np.stack([check.zeros_like(out) if c is None else c for c in columns], axis=-1)
        blocks.append(stacked.reshape(shape))
    return blocks


def _nested(blocks: Any, several_outputs: bool, several_inputs: bool) -> Any:
    """The blocks by output and input, without the tuples that the function did not have."""
    by_output = blocks if several_inputs else tuple([row[0] for row in blocks])
    return by_output if several_outputs else by_output[0]


# Inputs and results


def _as_tuple(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Whether `value` is a tuple, and it as a tuple of tensors. Raises TypeError where it is neither."""
    several = isinstance(value, tuple)
    values: Tensors = value if several else (value,)
    for i, element in enumerate(values):
        if not isinstance(element, State):
            found = (f"value at index {i} has type {type(element)}" if several
                     else f"given {what} has type {type(element)}")
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {found}.")
    return several, values


def _prepared(tensors: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """The tensors as new ones: views that lead on to those that require grad, if the graph is to go on (`create_graph`);
    else leaves, or constants where there is no need of a graph."""
    return tuple([t.view_as(t) if create_graph and edge_of(t) is not None else _leaf(t) if need_graph else _detached(t)
                  for t in tensors])


def _detached(tensor: Any) -> Any:
    """The same memory and version, without history."""
    return with_edge(tensor._array, None)


def _leaf(tensor: Any) -> Any:
    leaf = _detached(tensor)
    leaf.requires_grad_()
    return leaf


def _result(tensors: Tensors, several: bool, create_graph: bool) -> Any:
    """The tensors as results: without history unless `create_graph`, and without the tuple that nobody gave."""
    if not create_graph:
        tensors = tuple([_detached(t) for t in tensors])
    return tensors if several else tensors[0]


def _like(v: Any, others: Tensors, several: bool, create_graph: bool, name: str) -> Tensors:
    """The vector `v` as a tuple. Raises RuntimeError unless it is built and shaped like `others`."""
    _, vectors = _as_tuple(v, "v", name)
    vectors = _prepared(vectors, create_graph, False)
    if len(vectors) != len(others):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(vectors)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (vector, other) in enumerate(zip(vectors, others)):
        if vector._array.shape != other._array.shape:
            which = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{which}v has invalid size: should be {other.shape} but got {vector.shape}.")
    return vectors


def _tangents(v: Any, xs: Tensors, several: bool, create_graph: bool, name: str, otherwise: str) -> Tensors | None:
    if v is not None:
        return _like(v, xs, several, create_graph, name)
    if len(xs) != 1 or _count(xs[0]) != 1:
        raise RuntimeError(otherwise)
    return None


def _count(tensor: Any) -> int:
    return math.prod(tensor._array.shape)


def _dummies(tensors: Tensors) -> Tensors:
    """Zeros that require grad: cotangents to differentiate by. Their values do not matter."""
    dummies = tuple([check.zeros_like(t) for t in tensors])
    for dummy in dummies:
        require_grad(dummy)
    return dummies


def _gradients(outputs: Sequence[Any], inputs: Tensors, cotangents: Tensors | None, record: bool) -> tuple[Any, ...]:
    """The gradients of those outputs that have any; None for an input that none depends on."""
    pairs = [(out, None if cotangents is None else cotangents[i]) for i, out in enumerate(outputs)
             if out is not None and edge_of(out) is not None]
    if not pairs:
        return (None,) * len(inputs)
    return grad([out for out, _ in pairs], inputs, [g for _, g in pairs], create_graph=record, allow_unused=True)
