"""Gradients of functions: `grad`, `vjp` and whole Jacobians, by backward passes.

A transformed function runs on aliases of its arguments, which require grad. The gradients are those of the aliases.
Therefore transforms nest in any order: each knows its own aliases. What a function computes is recorded further only
if something outside of the transform requires grad.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..autograd.backward import grad as gradients_of
from ..autograd.blocks import detached
from ..autograd.grad_mode import enable_grad, inference_mode, set_grad_enabled
from ..foundations.dtypes import DIFFERENTIABLE
from ..foundations.errors import noted
from ..foundations.modes import kept_switches, local
from ..graph.node import AccumulateGrad, leaves_behind
from ..ops.shape import alias
from ..tensors.functions.creation.creation import zeros_like
from ..tensors.recording.calls import CALLS
from ..tensors.recording.saving import Packer, in_force
from ..tensors.state.base import as_leaf, edge_of, meta_of, requires, set_leaf
from ..tensors.state.dispatch import handlers_see
from ..tensors.state.inside import is_sparse, refuse_meta
from ..tensors.tensor import Tensor
from ..tensors.transforms.levels import transforming
from ..utils._pytree import PyTree, TreeSpec, tree_flatten, tree_unflatten
from .arguments import Argnums, chosen, mapped, of_argnums, outputs_in, refuse_complex, replaced, tensors_in, with_aux
from .jacobians import by_output, rows_of

if TYPE_CHECKING:
    from ..graph.node import Node

_HOOKS = ("torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
          "your use case.")
_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"


def _not_tensor(leaf: Any) -> Exception:
    return ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")


def _tracked(x: Tensor) -> Tensor:
    """An alias of a tensor that requires grad. It belongs to the graph of the tensor, if there is one."""
    if x._array.dtype not in DIFFERENTIABLE:
        raise noted(
            RuntimeError("only Tensors of floating point dtype can require gradients"),
            instead="convert the argument with .to(torch.get_default_dtype())")
    refuse_meta(x)
    if requires(x):
        aliased: Tensor = x.clone() if is_sparse(x) else x.view_as(x) if handlers_see(x) else CALLS[alias](x)
        return aliased
    alone: Tensor = detached(x)
    meta = meta_of(alone)
    set_leaf(meta, True)
    meta.within = local.thread.functions
    return alone


def _reaches_further(node: Node) -> bool:
    """Whether a leaf lies behind a node. The aliases of runs that are over are known to nobody outside of their run."""
    return any(not leaf.abandoned for leaf in leaves_behind(node))


class _WithoutHooks:
    """The context in which hooks on saved tensors are refused: they would see values that belong to the transform.

    If `put_off`, the hooks in force see nothing instead.
    """

    __slots__ = ("before", "put_off")

    def __init__(self, put_off: bool) -> None:
        self.put_off = put_off

    def __enter__(self) -> None:
        thread = local.thread
        self.before = thread.hooks_refused, thread.watchers
        if self.put_off:
            thread.watchers = tuple([each for each in thread.watchers if not isinstance(each, Packer)])
            return
        if in_force() is not None:
            raise RuntimeError(_HOOKS)
        thread.hooks_refused = _HOOKS

    def __exit__(self, *error: object) -> None:
        local.thread.hooks_refused, local.thread.watchers = self.before


class _Run:
    """One call of a function on aliases of its arguments at `places`. `free`: of what transforms refuse."""

    def __init__(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
                 places: Sequence[int], free: bool = False) -> None:
        self.recording = local.thread.grad
        self.reaching: dict[Any, bool] = {}                # whether what an edge leads to depends on something outside
        trees = [args[place] for place in places]
        flat, self.spec = tensors_in(trees, _not_tensor)
        within = contextlib.nullcontext() if free else transforming()
        with kept_switches(), inference_mode(False), within, _WithoutHooks(free):            # which records, too
            self.inputs = [_tracked(x) for x in flat]
            self.found = func(*replaced(args, places, tree_unflatten(self.inputs, self.spec)), **kwargs)
        for edge in map(edge_of, self.inputs):
            if type(edge) is AccumulateGrad:
                edge.abandoned = True

    def _reach_further(self, tensors: Sequence[Any]) -> bool:
        """Whether any of the tensors depends on something that requires grad and is no alias of a run that is over."""
        edges = [edge_of(tensor) for tensor in tensors]
        for edge in edges:
            if edge is not None and edge not in self.reaching:
                self.reaching[edge] = _reaches_further(edge.node)
        return any([edge is not None and self.reaching[edge] for edge in edges])

    def _as_outside(self, tensor: Tensor) -> Tensor:
        return tensor if self._reach_further([tensor]) else detached(tensor)

    def outside(self, tree: PyTree) -> PyTree:
        """Tensors that the function returned, as they are outside: each is recorded only if something outside is."""
        return mapped(self._as_outside if self.recording else detached, tree)

    def _recorded(self, outputs: Sequence[Tensor], given: Sequence[Any]) -> bool:
        """Whether derivatives of the outputs, times what is given, are to be recorded."""
        return local.thread.grad and (any([x is not None and requires(x) for x in given])
                                      or self._reach_further(outputs))

    def gradients(self, outputs: Sequence[Tensor], cotangents: Sequence[Any] | None, *,
                  keep: bool = False) -> list[Any]:
        """The gradients of `inputs`; zeros where there are none."""
        live = [i for i, output in enumerate(outputs) if requires(output)]
        further = self._recorded(outputs, cotangents or ())
        found: Sequence[Any] = [None] * len(self.inputs)
        if live and self.inputs:
            found = gradients_of([outputs[i] for i in live], self.inputs,
                                 None if cotangents is None else [cotangents[i] for i in live],
                                 retain_graph=keep or further, create_graph=further, allow_unused=True)
        if further:
            found = [g if g is None else self._as_outside(g) for g in found]
        return [zeros_like(x) if g is None else g for x, g in zip(self.inputs, found, strict=True)]

    def in_arguments(self, values: Sequence[Any]) -> list[Any]:
        """One value for each of `inputs`, as a tree for each argument."""
        trees: list[Any] = tree_unflatten(values, self.spec)
        return trees

    def tangents(self, outputs: Sequence[Tensor], directions: Sequence[Tensor]) -> list[Tensor]:
        """The tangents of the outputs: the gradient, by the cotangents, of the product with cotangents."""
        further = self._recorded(outputs, directions)
        with enable_grad(), _WithoutHooks(True):
            live = [i for i, output in enumerate(outputs) if output.requires_grad]
            cotangents = [as_leaf(zeros_like(outputs[i])) for i in live]
            found: list[Any] = [zeros_like(output) for output in outputs]
            products = gradients_of([outputs[i] for i in live], self.inputs, cotangents, create_graph=True,
                                    allow_unused=True) if live else ()
            moving = [i for i, product in enumerate(products) if product is not None and product.requires_grad]
            if moving:
                pushed = gradients_of([products[i] for i in moving], cotangents, [directions[i] for i in moving],
                                      create_graph=further, allow_unused=True)
                for i, tangent in zip(live, pushed, strict=True):
                    found[i] = found[i] if tangent is None else self._as_outside(tangent)
        return found


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that returns the gradient of `func` together with its value, a tensor with one element.

    `argnums` says by which positional arguments: an int, or a tuple of ints for a tuple of gradients. Arguments may be
    trees of tensors; gradients have their structure. With `has_aux`, `func` returns `(output, aux)`, and the result is
    `(gradient, (output, aux))`.

    >>> import retrograd as torch
    >>> torch.func.grad_and_value(lambda x: (x * x).sum())(torch.tensor([1., 2.]))
    (tensor([2., 4.]), tensor(5.))

    Raises RuntimeError for an output that is no number, and for arguments that are not of a floating-point dtype.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = _Run(func, args, kwargs, chosen(argnums, len(args)))
        gradient, output, aux = _gradient_of(run, argnums, has_aux)
        value = run.outside(output)
        return gradient, (value, run.outside(aux)) if has_aux else value

    return wrapper


def _gradient_of(run: _Run, argnums: Argnums, has_aux: bool) -> tuple[Any, Tensor, Any]:
    """The gradient of a number that a function returned, the number, and what the function returned beside."""
    output, aux = with_aux(_GRAD, run.found, has_aux)
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output._array.ndim:
        raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} "
                           "dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
    return of_argnums(argnums, run.in_arguments(run.gradients([output], None))), output, aux


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that returns the gradient of `func`, which must return a tensor with one element.

    The arguments are as for `grad_and_value`. With `has_aux`, the result is `(gradient, aux)`.

    >>> import retrograd as torch
    >>> torch.func.grad(torch.func.grad(torch.sin))(torch.tensor(1.))
    tensor(-0.8415)
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        run = _Run(func, args, kwargs, chosen(argnums, len(args)))
        gradient, _, aux = _gradient_of(run, argnums, has_aux)
        return (gradient, run.outside(aux)) if has_aux else gradient

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`func(*primals)`, and the function that multiplies cotangents with its Jacobian.

    The function takes cotangents in the structure of the output, and returns a tuple of gradients, one for each of
    `primals`. It may be called several times. With `has_aux`, `func` returns `(output, aux)`, and `aux` is the third
    result.

    >>> import retrograd as torch
    >>> value, pull = torch.func.vjp(torch.sin, torch.tensor([0., 1.]))
    >>> pull(torch.ones(2))
    (tensor([1.0000, 0.5403]),)

    Raises RuntimeError for an output that is no tree of tensors, and for cotangents of another structure.
    """
    run = _Run(func, primals, {}, range(len(primals)))
    output, aux = with_aux(_VJP, run.found, has_aux)
    outputs, spec = _differentiable(output)
    shown = run.outside(output), run.outside(aux) if has_aux else None

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_spec = tree_flatten(cotangents)
        if given_spec != spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs "
                               f"to the function. cotangents: {text_of(given_spec)}, primal output: {text_of(spec)}")
        for each in given:
            if not isinstance(each, Tensor | None):
                raise TypeError(f"gradients can be either Tensors or None, but got {type(each).__name__}")
        with set_grad_enabled(local.thread.grad if create_graph is None else create_graph):
            return tuple(run.in_arguments(run.gradients(outputs, given, keep=retain_graph)))

    return (shown[0], pull, shown[1]) if has_aux else (shown[0], pull)


def _differentiable(output: PyTree) -> tuple[list[Tensor], TreeSpec]:
    """The outputs of a function to differentiate, and their structure."""
    outputs, spec = outputs_in(output, _VJP)
    for each in outputs:
        if not (each.is_floating_point() or each.is_complex()):
            raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                               f"with dtype {each.dtype}")
    return outputs, spec


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """`func(*primals)`, and the function that multiplies its Jacobian there with tangents. `func` runs once.

    The product is linear in the tangents, and it is computed as the gradient of the product with cotangents.

    >>> import retrograd as torch
    >>> value, push = torch.func.linearize(torch.sin, torch.tensor([0., 1.]))
    >>> push(torch.ones(2))
    tensor([1.0000, 0.5403])

    Raises RuntimeError for tangents of another structure, shape or dtype.
    """
    run = _Run(func, primals, {}, range(len(primals)), free=True)
    primals_spec = tree_flatten(primals)[1]
    leaves, spec = tensors_in(run.found, lambda leaf: RuntimeError(
        f"linearize(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"))

    def push(*tangents: Any) -> Any:
        given, given_spec = tree_flatten(tangents)
        if given_spec != primals_spec:
            raise RuntimeError(f"Expected the tangents {given_spec} to have the same argspec as the primals "
                               f"{primals_spec}")
        for i, (tangent, primal) in enumerate(zip(given, run.inputs, strict=True)):
            if tangent.shape != primal.shape:
                raise RuntimeError(f"tangent:{i} with shape {tangent.shape} in flattened pytree doesn't match the "
                                   f"shape {primal.shape} of the corresponding primal.")
            if tangent.dtype != primal.dtype:
                raise RuntimeError(f"tangent:{i} with dtype {tangent.dtype} in flattened pytree doesn't match the "
                                   f"dtype {primal.dtype} of the corresponding primal.")
        return tree_unflatten(run.tangents(leaves, given), spec)

    return run.outside(run.found), push


def text_of(spec: Any) -> str:
    """The structure of a tree, with a star for each leaf."""
    return str(tree_unflatten([_Star()] * spec.num_leaves, spec))


class _Star:
    def __repr__(self) -> str:
        return "*"


def jacrev(func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None,
           _preallocate_and_copy: bool = False) -> Callable[..., Any]:
    """The function that returns the Jacobian of `func`, by one backward pass for a batch of all rows.

    The result has the structure of the output, and in it the structure of the arguments that `argnums` names. Each
    Jacobian has the shape of the output followed by that of the argument. `chunk_size` is how many rows are computed
    at a time; all rows, by default. With `has_aux`, the result is `(Jacobian, aux)`.

    >>> import retrograd as torch
    >>> torch.func.jacrev(lambda x: x * x)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])

    Raises ValueError if `chunk_size` is not positive.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacrev", args, "inputs")
        run = _Run(func, args, {}, chosen(argnums, len(args)))
        output, aux = with_aux(_VJP, run.found, has_aux)
        outputs, spec = _differentiable(output)
        refuse_complex("jacrev", outputs, "outputs")
        rows = rows_of(lambda *cotangents: run.gradients(outputs, cotangents, keep=True), outputs, chunk_size)
        jacobian = tree_unflatten([of_argnums(argnums, run.in_arguments(blocks))
                                   for blocks in by_output(rows, outputs, run.inputs)], spec)
        return (jacobian, run.outside(aux)) if has_aux else jacobian

    return wrapper
