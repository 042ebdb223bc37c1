"""PyTorch's errors about weights of the past that are tensors, in steps with `foreach`.

PyTorch hands the weights, or numbers computed of them, to functions on lists of tensors. These functions take Python's
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tensors.state.base import TensorBase

_LERP = "_foreach_lerp_", "tuple of Tensors self, tuple of Tensors tensors1, {}", (
    "Number weight", "tuple of Scalars weight", "tuple of Tensors weights")
_ADDCDIV = "_foreach_addcdiv_", "tuple of Tensors self, tuple of Tensors tensor1, tuple of Tensors tensor2, {}", (
    "tuple of Scalars scalars", "Tensor scalars", "Number value = 1")


def check_betas_together(group: dict[str, Any], refused: tuple[bool, bool], lists: Sequence[str]) -> None:
    """Raises TypeError or RuntimeError for tensors in `betas`.

    `refused` says of each of both weights whether PyTorch refuses a tensor without dimensions. `lists` says which
    arguments of the last function are lists, and which are tuples.
    """
    first, second = group["betas"]
    count = _alike(group)
    if not count or not (isinstance(first, TensorBase) or isinstance(second, TensorBase)):
        return
    if isinstance(first, TensorBase) and first.ndim:
        raise _unmatched(_LERP, ("list", kind_of_gradients(group), "Tensor"), count)
    if isinstance(second, TensorBase) and second.ndim:
        raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {second.ndim} dimensions and 1 elements.")
    if isinstance(second, TensorBase) and refused[1]:
        raise RuntimeError("Expected packed scalar Tensor to be of dimension 1. Got 0 instead.")
    if isinstance(first, TensorBase) and refused[0]:
        raise _unmatched(_ADDCDIV, lists, count)


def kind_of_gradients(group: dict[str, Any]) -> str:
    """Whether PyTorch holds the gradients of a group in a list, or in the tuple of a function that computed them."""
    added = group["weight_decay"] != 0 and not group.get("decoupled_weight_decay")
    return "tuple" if group["maximize"] or added else "list"


def _alike(group: dict[str, Any]) -> int:
    """The number of parameters with gradients that have the type of the first of them. PyTorch groups them by type."""
    types = [p.dtype for p in group["params"] if p.grad is not None]
    return types.count(types[0]) if types else 0


def _unmatched(function: tuple[str, str, tuple[str, ...]], kinds: Sequence[str], count: int) -> TypeError:
    """The error about arguments of these kinds, of which the lists and tuples hold `count` tensors."""
    name, parameters, last = function
    tensors = ", ".join(["Tensor"] * count)
    held = f"{tensors}," if count == 1 else tensors
    shown = {"list": f"!list of [{tensors}]!", "tuple": f"!tuple of ({held})!", "Tensor": "!Tensor!"}
    given = ", ".join([shown[kind] for kind in kinds])
    ways = [f" * ({parameters.format(each)})\n      didn't match because some of the arguments have invalid types: "
            f"({given})\n" for each in last]
    return TypeError(f"{name}() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected "
                     f"one of:\n{''.join(ways)}")
