"""The spec of a pytree: how its leaves are nested."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..foundations.errors import warn
from ._pytree_nodes import BUILTIN_TYPES, STANDARD_DICT_TYPES, SUPPORTED_NODES, Context, PyTree, node_type


class TreeSpec:
    """How the leaves of a pytree are nested: the type of the outer container, its context, and a spec for each child.

    The spec of a leaf has the type None.

    >>> from retrograd.utils._pytree import tree_structure
    >>> spec = tree_structure({"a": [1, 2], "b": 3})
    >>> spec
    TreeSpec(dict, ['a', 'b'], [TreeSpec(list, None, [*,
        *]),
      *])
    >>> spec.unflatten([10, 20, 30])
    {'a': [10, 20], 'b': 30}
    """

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type, self._context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_nodes, self.num_leaves = 1, 1 if type is None else 0
        for child in children_specs:
            self.num_nodes += child.num_nodes
            self.num_leaves += child.num_leaves

    @property
    def context(self) -> Context:
        """What the container holds beside its children, such as the keys of a dictionary."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The specs of the children. The property warns: use `children()`."""
        warn("`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a single child, or "
             "`treespec.children()` to get all children.", FutureWarning)
        return self._children

    def children(self) -> list[TreeSpec]:
        """The specs of the children."""
        return [*self._children]

    def child(self, index: int) -> TreeSpec:
        """The spec of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether this is the spec of a leaf."""
        return self.type is None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self._context, self._children) == (other.type, other._context, other._children)

    def __hash__(self) -> int:
        if self.type in STANDARD_DICT_TYPES:
            keys = self._context[1] if self.type is defaultdict else self._context
            return hash((self.type, tuple(keys), tuple(self._children)))
        try:
            return hash((self.type, self._context, tuple(self._children)))
        except TypeError:                                        # a context that cannot be hashed, such as a list
            return hash((self.type, str(self._context), tuple(self._children)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        gap = ",\n" + " " * (indent + 2)
        inside = gap.join(child.__repr__(indent + 2) for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{inside}])"

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of another tree that stand where this spec has leaves. Each part may be a tree itself.

        Raises ValueError if the other tree is nested in another way.
        """
        if self.type is None:
            return [tree]
        return [part for child, subtree in zip(self._children, self.matched(tree), strict=True)
                for part in child.flatten_up_to(subtree)]

    def matched(self, tree: PyTree) -> list[PyTree]:
        """The children of a tree with the outer container of this spec, in the order of this spec.

        Raises ValueError if the tree has another outer container.
        """
        kind = node_type(tree)
        both_dicts = self.type in STANDARD_DICT_TYPES and kind in STANDARD_DICT_TYPES
        if kind != self.type and not both_dicts:
            raise ValueError(f"{'Node type' if self.type in BUILTIN_TYPES or self.type is None else 'Type'} mismatch; "
                             f"expected {self.type}, but got {kind}.")
        if both_dicts:
            return self._matched_values(tree)
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if self.type is namedtuple and context != self._context:
            raise ValueError(f"Node context mismatch for node type {self.type!r}; expected {self._context!r}, but got "
                             f"{context!r}.")
        if self.type not in BUILTIN_TYPES and context != self._context:
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        return children

    def _matched_values(self, tree: Mapping[Any, PyTree]) -> list[PyTree]:
        if len(tree) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(tree)}.")
        keys = self._context[1] if self.type is defaultdict else self._context
        missing, extra = set(keys) - set(tree), set(tree) - set(keys)
        if missing or extra:
            raise ValueError("Node keys mismatch" + (f"; missing key(s): {missing}" if missing else "")
                             + (f"; extra key(s): {extra}" if extra else "") + ".")
        return [tree[key] for key in keys]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """A tree of this form with these leaves. Raises ValueError for another number of leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a "
                             f"pytree that holds {self.num_leaves} items ({self}).")
        return self._filled(iter(leaves))

    def _filled(self, leaves: Iterator[Any]) -> PyTree:
        if self.type is None:
            return next(leaves)
        children = [next(leaves) if child.type is None else child._filled(leaves) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self._context)


PyTreeSpec = TreeSpec
LEAF = TreeSpec(None, None, [])


def LeafSpec() -> TreeSpec:
    """The spec of a leaf."""
    return LEAF
