"""Tangents of functions: `jvp`, Jacobians by columns, and Hessians."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._functorch.vmap import over_samples
from ..foundations.dtypes import DIFFERENTIABLE
from ..foundations.modes import kept_switches
from ..tensors.recording.public import public
from ..tensors.tensor import Tensor
from ..tensors.transforms.crossing import entered, make_dual, primal_part, tangent_part
from ..tensors.transforms.forward import ForwardLevel, misfit
from ..tensors.transforms.levels import inner, transforming
from ..utils._pytree import PyTree, TreeSpec, tree_flatten, tree_unflatten
from .arguments import Argnums, chosen, mapped, of_argnums, outputs_in, refuse_complex, replaced, with_aux
from .jacobians import basis, by_input
from .reverse import jacrev

_JVP = "jvp(f, primals, tangents)"


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """`func(*primals)`, and the product of its Jacobian with `tangents`, in one pass forward.

    `tangents` has the structure of `primals`, a tuple. With `strict`, an output that does not depend on the inputs
    raises RuntimeError; its tangent is zero otherwise. With `has_aux`, `func` returns `(output, aux)`, and `aux` is the
    third result.

    >>> import retrograd as torch
    >>> torch.func.jvp(lambda x: x ** 3, (torch.tensor(2.),), (torch.tensor(1.),))
    (tensor(8.), tensor(12.))

    Raises RuntimeError for tangents of another structure or shape; ValueError for primals that are not of a
    floating-point dtype.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    flat, spec = tree_flatten(primals)
    directions, directions_spec = tree_flatten(tangents)
    if spec != directions_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure "
            f"{directions_spec}")
    for name, values in (("primals", flat), ("tangents", directions)):
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(value)}")
    if not flat:
        raise RuntimeError(f"{_JVP}: Expected primals to contain at least one Tensor.")
    level, outputs, outputs_spec, aux = _pushed(func, flat, directions, spec, has_aux)
    if strict and any(level.shadows.tangent(inner(out._array)) is None for out in outputs):
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This "
                           "is not allowed with strict=True.")
    with kept_switches():
        found = (tree_unflatten([primal_part(level, out) for out in outputs], outputs_spec),
                 tree_unflatten([tangent_part(level, out) for out in outputs], outputs_spec))
        return (*found, _without_tangents(level, aux)) if has_aux else found


def _pushed(func: Callable[..., Any], primals: list[Tensor], tangents: Sequence[Tensor], spec: TreeSpec,
            has_aux: bool) -> tuple[ForwardLevel, list[Tensor], TreeSpec, Any]:
    """Call a function on dual tensors. Returns their level, the dual outputs, their structure, and `aux`."""
    level = ForwardLevel()
    with kept_switches(), entered(level), transforming():
        duals = [_dual(x, t, level) for x, t in zip(primals, tangents, strict=True)]
        output, aux = with_aux(_JVP, func(*tree_unflatten(duals, spec)), has_aux)
    return level, *outputs_in(output, _JVP), aux


def _without_tangents(level: ForwardLevel, tree: PyTree) -> PyTree:
    return mapped(lambda tensor: primal_part(level, tensor), tree)


@public(name="_make_dual")
def _dual(primal: Tensor, tangent: Tensor, level: ForwardLevel) -> Tensor:
    x, t = primal._array, tangent._array
    if x.dtype not in DIFFERENTIABLE:
        raise ValueError(f"Expected primal to be floating point or complex, but got: {primal.dtype}")
    if x.shape != t.shape:
        raise misfit(x.shape, t.shape)
    if t.dtype != x.dtype:
        tangent = tangent.to(primal.dtype)
    dual: Tensor = make_dual(level, primal, tangent)
    return dual


def jacfwd(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *,
           randomness: str = "error") -> Callable[..., Any]:
    """The function that returns the Jacobian of `func`, by one forward pass for a batch of all columns.

    The result has the structure of the output, and in it the structure of the arguments that `argnums` names. Each
    Jacobian has the shape of the output followed by that of the argument. With `has_aux`, the result is
    `(Jacobian, aux)`. `randomness` is as for `vmap`.

    >>> import retrograd as torch
    >>> torch.func.jacfwd(lambda x: x * x)(torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        places = chosen(argnums, len(args))
        values = [args[place] for place in places]
        inputs, spec = tree_flatten(values)
        beside: Any = None

        def of_chosen(*given: Any) -> Any:
            return func(*replaced(args, places, given))

        def push(*directions: Tensor) -> list[Tensor]:
            nonlocal beside
            level, outputs, outputs_spec, aux = _pushed(of_chosen, inputs, directions, spec, has_aux)
            refuse_complex("jacfwd", outputs, "outputs")
            beside = outputs_spec, _without_tangents(level, aux) if has_aux else None
            return [tangent_part(level, out) for out in outputs]

        columns = over_samples(push, basis(inputs, 0, sum(x.numel() for x in inputs)), randomness, -1)
        outputs_spec, aux = beside
        jacobian = tree_unflatten([of_argnums(argnums, tree_unflatten(by_input(column, inputs), spec))
                                   for column in columns], outputs_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that returns the second derivatives of `func`, forward over reverse: `jacfwd` of `jacrev`.

    >>> import retrograd as torch
    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
