"""torch.fx._pytree: takes arguments apart as a trace of them was taken apart."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..utils._pytree import PyTree, TreeSpec, tree_flatten

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

# How the parts of a container are found, by its class. A dictionary may have more keys than the traced one.
SUPPORTED_NODES: dict[Any, Callable[[Any, TreeSpec], list[Any]]] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[Any, Callable[[Any, TreeSpec], bool] | None] = {}


def register_pytree_flatten_spec(cls: Any, flatten_fn_spec: Callable[[Any, TreeSpec], list[Any]],
                                 flatten_fn_exact_match_spec: Callable[[Any, TreeSpec], bool] | None = None) -> None:
    """Say how the parts of a container are found that a trace names."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree: PyTree, spec: TreeSpec) -> list[Any]:
    """The leaves of a value that has the structure `spec`.

    Raises RuntimeError if the structure is another one, and the container's own error if a part is not there.
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        parts = SUPPORTED_NODES[spec.type](pytree, spec)
        return [leaf for part, inner in zip(parts, spec.children(), strict=False)
                for leaf in tree_flatten_spec(part, inner)]
    leaves, found = tree_flatten(pytree)
    if spec != found:
        raise RuntimeError(f"Real spec {found} of object {pytree} is different from expected spec {spec}. Please file "
                           "an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml")
    return leaves


def _by_key(found: Any, spec: TreeSpec) -> list[Any]:
    return [found[key] for key in spec.context]


def _by_place(found: Any, spec: TreeSpec) -> list[Any]:
    return [found[i] for i in range(spec.num_children)]


def _same_length(found: Any, spec: TreeSpec) -> bool:
    return len(found) == spec.num_children


register_pytree_flatten_spec(dict, _by_key, _same_length)
for _kind in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_kind, _by_place, _same_length)
