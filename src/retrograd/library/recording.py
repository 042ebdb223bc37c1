"""The recording of a defined operator: a `Function` whose backward is the program's formula.

The Function gets the tensors of lists one by one, because a node has an edge for each tensor. Behind them comes a
`Layout`, which knows how the values stand in the call. The formula is linear in the cotangents, so tangents are
computed from it by transposition. A batch goes to the rule of `register_vmap`, or else the operator is called for one
sample after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..autograd.function import Function
from ..autograd.function_batches import two_returned
from ..foundations.errors import noted
from ..tensors.functions.shapes.joining import stack
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten
from .schemas import bound

if TYPE_CHECKING:
    from .operators import Operator


def _is_leaf(value: Any) -> bool:
    """Whether a value is one leaf. Lists of tensors are none."""
    if isinstance(value, list):
        return not all([each is None or isinstance(each, Tensor) for each in value])
    return not isinstance(value, tuple)


class Layout:
    """How the values of one call stand in it: the form of the arguments and of the result; keyword-only values."""

    def __init__(self, operator: Operator, given: Sequence[Any], named: dict[str, Any]) -> None:
        self.operator, self.named, self.lists = operator, named, any([not _is_leaf(value) for value in given])
        self.form: TreeSpec = tree_structure(tuple(given), _is_leaf)
        self.result: TreeSpec

    def taken_apart(self, given: Sequence[Any]) -> list[Any]:
        """The arguments, with each tensor of a list by itself."""
        return tree_flatten(tuple(given), _is_leaf)[0]

    def arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments as the kernel gets them, or something else for each of them."""
        found: tuple[Any, ...] = tree_unflatten([*leaves], self.form)
        return found

    def outputs(self, result: Any) -> tuple[Any, ...]:
        """The result, with each tensor of a list by itself. Its form is noted."""
        leaves, self.result = tree_flatten(result, _is_leaf)
        return tuple(leaves)

    def assembled(self, leaves: Sequence[Any]) -> Any:
        """The result as the kernel returns it, or something else for each output."""
        return tree_unflatten([*leaves], self.result)

    def inputs(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All arguments with the defaults: those by position, and those by keyword."""
        values, named = bound(self.operator._schema, self.arguments(leaves), self.named)
        return tuple(values), named

    def gradients(self, returned: Any) -> tuple[Any, ...]:
        """What the formula returned, with the gradients of lists one by one."""
        returned = returned if isinstance(returned, tuple) else (returned,)
        if not self.lists:
            return (*returned, None)
        leaves, form = tree_flatten((*returned, None), _is_leaf)
        wanted = tree_structure((*self.arguments([None] * self.form.num_leaves), None), _is_leaf)
        if form != wanted:
            raise RuntimeError("Expected the return from backward to be of the same structure as the inputs. Got: "
                               f"{form} (return from backward), {wanted} (inputs)")
        return tuple(leaves)


def recorder(operator: Operator) -> type[Function]:
    """The Function that records calls of an operator."""

    def forward(*args: Any) -> Any:
        *leaves, layout = args
        return layout.outputs(operator.computed(layout.arguments(leaves), layout.named))

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *leaves, layout = inputs
        ctx._layout = layout
        if operator.setup is None:
            return
        values, named = layout.inputs(leaves)
        options = {"keyword_only_inputs": named} if named else {}
        with _needs_shown(ctx, layout):
            operator.setup(ctx=ctx, inputs=values, output=layout.assembled(output), **options)
        if ctx.to_save is not None and ctx.saved_for_forward is None:
            ctx.saved_for_forward = ctx.to_save

    def backward(ctx: Any, *grads: Any) -> Any:
        if operator.backward is None:
            raise RuntimeError(f"Trying to backward through {operator} but no autograd formula was registered. Please "
                               "use register_autograd to add one.")
        layout = ctx._layout
        cotangents = layout.assembled(grads)
        with _needs_shown(ctx, layout):
            found = operator.backward(ctx, *(cotangents if isinstance(cotangents, tuple) else (cotangents,)))
        return layout.gradients(found)

    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
        *leaves, layout = args
        if operator.batches is None:
            return _looped(layout, info.batch_size, leaves, in_dims)
        return _by_rule(operator.batches, layout, info, leaves, in_dims[:-1])

    return type(f"GeneratedBackwardFor_{operator.namespace}_{operator.overloadpacket.__name__}_"
                f"{operator._overloadname}", (Function,), {
                    "forward": staticmethod(forward), "setup_context": staticmethod(setup_context),
                    "backward": staticmethod(backward), "vmap": staticmethod(vmap), "_transposes": True})


def _dims(output: Any, out_dims: Any) -> tuple[int | None, ...]:
    """The dim of the batch in each tensor of an output. Raises RuntimeError for dims that do not stand like it."""
    form = tree_structure(output)
    dims = _broadcast_to_and_flatten(out_dims, form)
    if dims is None:
        raise RuntimeError("The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
                           f"tuple. Expected out_dims={out_dims} to be compatible with the structure of `output`. "
                           f"out_dims has structure {tree_structure(out_dims)} but output has structure {form}.")
    return tuple(dims)


@contextmanager
def _needs_shown(ctx: Any, layout: Layout) -> Iterator[None]:
    """Have `needs_input_grad` stand like the arguments, with lists for lists of tensors."""
    flat = ctx.needs_input_grad
    if not layout.lists:
        yield
        return
    ctx.needs_input_grad = layout.arguments(flat[:layout.form.num_leaves])
    try:
        yield
    finally:
        ctx.needs_input_grad = flat


def _by_rule(rule: Callable[..., Any], layout: Layout, info: Any, leaves: list[Any],
             in_dims: Sequence[Any]) -> tuple[Any, Any]:
    """The outputs of a batch and their dims, from the rule of `register_vmap`."""
    values, dims = layout.arguments(leaves), layout.arguments(in_dims)
    dims = tuple([[None] * len(v) if d is None and isinstance(v, list) else d for v, d in zip(values, dims)])
    output, out_dims = two_returned(rule(info, dims, *values, **layout.named))
    return layout.outputs(layout.operator.checked(output)), _dims(output, out_dims)


def _looped(layout: Layout, size: int, leaves: list[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
    """The outputs of a batch, from one call for each sample."""
    if not size:
        raise noted(
            RuntimeError(f"vmap: {layout.operator.name()} has no rule for batches, and a batch of size 0 has no sample "
                         "to call it with."), instead="add a rule with register_vmap")
    samples = []
    for i in range(size):
        sample = [leaf if dim is None else leaf.select(dim, i) for leaf, dim in zip(leaves, dims)]
        samples.append(layout.outputs(layout.operator(*layout.arguments(sample), **layout.named)))
    outputs = tuple([stack(parts) if isinstance(parts[0], Tensor) else parts[0] for parts in zip(*samples)])
    return outputs, tuple([0 if isinstance(output, Tensor) else None for output in outputs])
