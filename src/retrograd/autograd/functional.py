"""torch.autograd.functional: Jacobians, Hessians, and the products of both with vectors, of a Python function.

Everything is made of backward passes. A product with a tangent (jvp, hvp) is the "double backward trick": the product
of a cotangent with the Jacobian is linear in the cotangent, so the gradient of the product by the cotangent is the
product with a tangent. `blocks` computes whole Jacobians.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..foundations.errors import noted
from ..foundations.modes import local
from ..foundations.names import missing
from ..tensors.functions.creation.creation import eye
from ..tensors.recording.refusals import refuse_leaves_inside
from ..tensors.state.base import TensorBase, edge_of
from . import strict as check
from .blocks import (
    called_rows,
    columns_together,
    detached_alike,
    dummies,
    gradients,
    leaf,
    recorded_rows,
    rows,
    rows_together,
    stacked,
)
from .grad_mode import enable_grad

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Tensors = tuple[Any, ...]

OUTPUTS = "outputs of the user-provided function"
REVERSE, FORWARD = "reverse-mode", "forward-mode"


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, and the product of the cotangent `v` (like the outputs) with its Jacobian (like the inputs).

    `v` may be left out if the output is a single number. With `create_graph` both results can be differentiated. If an
    output does not depend on an input, the product is zeros; with `strict` the call raises RuntimeError instead.

    >>> import retrograd as torch
    >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1., 2.]), torch.tensor([1., 10.]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, xs = _inputs(inputs, create_graph, "vjp")
        several_outputs, outputs = _outputs(func, xs, strict, "vjp")
        if v is not None:
            cotangents = _like(v, outputs, several_outputs, create_graph, "vjp")
        elif len(outputs) == 1 and outputs[0]._array.size == 1:
            cotangents = None
        else:
            raise noted(
                RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor "
                             "with a single element."), "functional#v-for-several-outputs")
    found = gradients(outputs, xs, cotangents, create_graph)
    product = check.filled(found, xs, strict, create_graph, check.BACK)
    return _result(outputs, several_outputs, create_graph), _result(product, several, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, and the product of its Jacobian with the tangent `v`.

    `v` is like the inputs, and the product like the outputs. `v` may be left out if the input is a single
    number. `create_graph` and `strict` are as for `vjp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.jvp(lambda x: x * x, torch.tensor([1., 2.]), torch.tensor([1., 10.]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        several, xs = _inputs(inputs, create_graph, "jvp")
        tangents = _tangents(v, xs, several, create_graph, "jvp")
        several_outputs, outputs = _outputs(func, xs, strict, "jvp")
        zeros = dummies(outputs)
        by_inputs = gradients(outputs, xs, zeros, True)
        if strict:
            check.require_dependence(by_inputs)
    found = gradients(by_inputs, zeros, tangents, create_graph)
    product = check.filled(found, outputs, strict, create_graph, check.BACK_TRICK)
    return _result(outputs, several_outputs, create_graph), _result(product, several_outputs, create_graph)


def jacobian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
             strategy: str = REVERSE) -> Any:
    """The Jacobian of `func`: for each output and input a tensor of the output's shape followed by the input's.

    The result is one tensor if `func` takes and returns one tensor. Otherwise it is a tuple over the outputs, the
    inputs, or both (in this order). With `strategy` "forward-mode" the call computes columns instead of rows, which
    suits few inputs; this needs `vectorize`, which computes all rows or columns in one batch.
    `create_graph` and `strict` are as for `vjp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in (FORWARD, REVERSE):
        raise noted(
            AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function '
                           'has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
                           'prefer to use "reverse-mode".'), "functional#strategy")
    if strategy == FORWARD:
        for name, given in (("create_graph", create_graph), ("strict", strict)):
            if given:
                kind = NotImplementedError if name == "create_graph" else RuntimeError
                raise noted(
                    kind(f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` are not '
                         f'supported together (yet). Please either set `{name}=False` or `strategy="reverse-mode"`.'),
                    "functional#create-graph-in-forward-mode")
        return _by_columns(func, inputs, vectorize)
    with enable_grad():
        several, xs = _inputs(inputs, create_graph, "jacobian")
        several_outputs, outputs = _outputs(func, xs, strict, "jacobian")
        if strict and vectorize:
            raise noted(
                RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                             "supported together. Please either set `strict=False` or `vectorize=False`."),
                "functional#strict-and-vectorized")
        if not vectorize:
            check.require_real(outputs)
        if vectorize:
            blocks = rows_together(outputs, xs, create_graph)
        elif check.calls_are_seen(*outputs, *xs):
            blocks = tuple([called_rows(out, xs, i if strict else None, create_graph)
                            for i, out in enumerate(outputs)])
            if not create_graph:
                blocks = _grad_postprocess(blocks, False)
        elif create_graph:
            blocks = stacked([recorded_rows(out, xs, i if strict else None) for i, out in enumerate(outputs)],
                             outputs, xs)
        else:
            blocks = tuple([rows(out, xs, i if strict else None) for i, out in enumerate(outputs)])
    return _nested(blocks, several_outputs, several)


def hessian(func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = REVERSE) -> Any:
    """The Hessian of `func`, which returns a single number: the Jacobian of its gradient.

    For one input the result is one tensor, with the input's shape twice. If `inputs` is a tuple, the result is a tuple
    of tuples. The options are those of `jacobian`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.hessian(lambda x: x * x * x, torch.tensor(2.))
    tensor(12.)
    """
    several, xs = _as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in (FORWARD, REVERSE):
        raise noted(
            AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".'), "functional#strategy")

    def single(*args: Any) -> Any:
        return _single_output(func, args, strict, "hessian").squeeze()

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


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, a single number, and the product of the vector `v` (like the inputs) with its Hessian.

    `v` may be left out if the input is a single number. `create_graph` and `strict` are as for `vjp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.vhp(lambda x: (x * x * x).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _times_hessian(func, inputs, v, create_graph, strict, "vhp")


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """`func(*inputs)`, a single number, and the product of its Hessian with the vector `v` (like the inputs).

    If `func` is smooth, its Hessian is symmetric, and `vhp` gives the same result with less work. The options are
    those of `vhp`.

    >>> import retrograd as torch
    >>> torch.autograd.functional.hvp(lambda x: (x * x * x).sum(), torch.tensor([1., 2.]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _times_hessian(func, inputs, v, create_graph, strict, "hvp")


def _times_hessian(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> tuple[Any, Any]:
    """The results of `vhp`, or those of `hvp`: the same pass, but of the product of a cotangent with the Hessian."""
    with enable_grad():
        several, xs = _inputs(inputs, create_graph, name)
        vectors = _tangents(v, xs, several, create_graph, name)
        output = _single_output(func, xs, strict, name)
        gradient, by, stage = gradients((output,), xs, None, True), xs, check.DOUBLE_BACK
        if strict:
            check.require_second_order(gradient)
        if name == "hvp":
            by, stage = dummies(xs), check.DOUBLE_BACK_TRICK
            gradient = gradients(gradient, xs, by, True)
    product = check.filled(gradients(gradient, by, vectors, create_graph), xs, strict, create_graph, stage)
    return _result((output,), False, create_graph), _result(product, several, create_graph)


def _by_columns(func: Callable, inputs: Any, vectorize: bool, record: bool = False) -> Any:
    """The Jacobian by columns. It can be differentiated if an input requires grad, or with `record`."""
    several, given = _as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise noted(
            NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
                                "implemented for `vectorize=True`."), "functional#forward-mode-is-vectorized")
    record = record or (local.thread.grad and any(edge_of(x) is not None for x in given))
    kinds: list[bool] = []

    def outputs_of(found: Any) -> Tensors:
        several_outputs, outputs = _as_tuple(found, "outputs", "jacobian")
        kinds.append(several_outputs)
        return outputs

    with enable_grad():
        xs = tuple([x.view_as(x) if record and edge_of(x) is not None else leaf(x) for x in given])
        blocks = columns_together(func, xs, outputs_of, record)
    return _nested(blocks, kinds[0], several)


def _nested(blocks: Any, several_outputs: bool, several_inputs: bool) -> Any:
    """The blocks by output and input, without the tuple levels that the function does not have."""
    by_output = blocks if several_inputs else tuple([row[0] for row in blocks])
    return by_output if several_outputs else by_output[0]


# What packages use to vectorize a Jacobian of their own


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: tuple[int, ...]) -> Tensors:
    """Unit vectors for all elements of the tensors together: a matrix for each tensor, with its elements as columns."""
    vectors = eye(sum(tensor_numels)).split(list(tensor_numels), 1)
    return tuple([part.to(tensor.dtype) for part, tensor in zip(vectors, tensors, strict=True)])


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """The tensors of nested tuples, without history unless `create_graph`."""
    if isinstance(inputs, tuple):
        return tuple([_grad_postprocess(each, create_graph) for each in inputs])
    return inputs if create_graph else detached_alike(inputs)


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """The result without the tuple levels that outputs and inputs do not have: what is no tuple is False."""
    if isinstance(to_unpack, tuple):
        return _nested(res, *to_unpack)
    return res if to_unpack else res[0]


# Inputs and results


def _as_tuple(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Whether `value` is a tuple, and its tensors as a tuple. Raises TypeError if an element is not a tensor."""
    several = isinstance(value, tuple)
    values: Tensors = value if several else (value,)
    for i, element in enumerate(values):
        if not isinstance(element, TensorBase):
            found = f"value at index {i}" if several else f"given {what}"
            raise noted(
                TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                          f"the {found} has type {type(element)}."), "functional#arguments-of-functional")
    return several, values


def _inputs(inputs: Any, create_graph: bool, name: str) -> tuple[bool, Tensors]:
    """Whether `inputs` is a tuple, and the tensors to call the function with."""
    several, xs = _as_tuple(inputs, "inputs", name)
    return several, _prepared(xs, create_graph, True)


def _outputs(func: Callable, xs: Tensors, strict: bool, name: str) -> tuple[bool, Tensors]:
    """Whether `func(*xs)` is a tuple, and its tensors. In strict mode all of them must require grad."""
    several, outputs = _as_tuple(func(*xs), OUTPUTS, name)
    if strict:
        check.require_outputs(outputs)
    return several, outputs


def _single_output(func: Callable, xs: Tensors, strict: bool, name: str) -> Any:
    """The tensor `func(*xs)`, which must have a single element."""
    several, outputs = _outputs(func, xs, strict, name)
    check.require_single(several, outputs, name)
    return outputs[0]


def _prepared(tensors: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """New tensors over the same memory.

    With `create_graph` they are views, which lead on to the tensors that require grad. Otherwise they are leaves, or
    constants if no graph is needed. Raises RuntimeError for new leaves inside of a transformed function.
    """
    if need_graph and not create_graph:
        refuse_leaves_inside()
    alone = leaf if need_graph else detached_alike
    return tuple([t.view_as(t) if create_graph and edge_of(t) is not None else alone(t) for t in tensors])


def _result(tensors: Tensors, several: bool, create_graph: bool) -> Any:
    """The tensors as results: without history unless `create_graph`, and without a tuple if the user gave none."""
    if not create_graph:
        tensors = tuple([detached_alike(t) for t in tensors])
    return tensors if several else tensors[0]


def _like(v: Any, others: Tensors, several: bool, create_graph: bool, name: str) -> Tensors:
    """The vector `v` as a tuple. Raises RuntimeError if its structure or shapes differ from those of `others`."""
    _, vectors = _as_tuple(v, "v", name)
    vectors = _prepared(vectors, create_graph, False)
    if len(vectors) != len(others):
        if several:
            raise noted(
                RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(vectors)}."),
                "functional#length-of-v")
        raise noted(RuntimeError("The given v should contain a single Tensor."), "functional#v-is-one-tensor")
    for i, (vector, other) in enumerate(zip(vectors, others)):
        if vector._array.shape != other._array.shape:
            which = f"Entry {i} in " if several else ""
            raise noted(
                RuntimeError(f"{which}v has invalid size: should be {other.shape} but got {vector.shape}."),
                "functional#size-of-v")
    return vectors


def _tangents(v: Any, xs: Tensors, several: bool, create_graph: bool, name: str) -> Tensors | None:
    """The vector `v`, checked against the inputs. None stands for 1 if the input is a single number."""
    if v is not None:
        return _like(v, xs, several, create_graph, name)
    if len(xs) != 1 or xs[0]._array.size != 1:
        raise noted(
            RuntimeError("The vector v can only be None if the input to the user-provided function is a single "
                         "Tensor with a single element."), "functional#v-for-several-inputs")
    return None
