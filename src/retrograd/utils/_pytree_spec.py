"""The spec of a pytree: how its leaves are nested."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..foundations.errors import warn
from ._pytree_nodes import (
    BUILTIN_TYPES,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    ConstantNode,
    Context,
    PyTree,
    node_type,
)

_set = object.__setattr__


@dataclass(init=False, frozen=True, eq=True, repr=False, slots=True)
class TreeSpec:
    """How the leaves of a pytree are nested: the type of the outer container, its context, and a spec for each child.

    The spec of a leaf has the type None. Specs cannot be changed. Raises AssertionError for a leaf with
    a context or with children.

    >>> from retrograd.utils._pytree import tree_structure
    >>> spec = tree_structure({"a": [1, 2], "b": 3})
    >>> spec
    TreeSpec(dict, ['a', 'b'], [TreeSpec(list, None, [*,
        *]),
      *])
    >>> spec.unflatten([10, 20, 30])
    {'a': [10, 20], 'b': 30}
    """

    type: Any
    _context: Context
    _children: list[TreeSpec]
    num_nodes: int = field(init=False)
    num_leaves: int = field(init=False)
    num_children: int = field(init=False)

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        if type is None and context is not None:
            raise AssertionError("leaf node should not have a context")
        if type is None and children_specs:
            raise AssertionError("leaf node should not have children")
        nodes, leaves = 1, 1 if type is None else 0
        for child in children_specs:
            nodes, leaves = nodes + child.num_nodes, leaves + child.num_leaves
        _set(self, "type", type)
        _set(self, "_context", context)
        _set(self, "_children", children_specs)
        _set(self, "num_nodes", nodes)
        _set(self, "num_leaves", leaves)
        _set(self, "num_children", len(children_specs))

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
        return self.num_nodes == self.num_leaves == 1

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__ or not isinstance(other, TreeSpec):
            return NotImplemented
        return self is other or (str(self.type) == str(other.type) and self._context == other._context
                                 and self._children == other._children)

    def __hash__(self) -> int:
        context = self._context
        if self.type is defaultdict:
            context = context[0], tuple(context[1])
        elif self.type in STANDARD_DICT_TYPES:
            context = tuple(context)
        elif isinstance(context, ConstantNode):
            context = context.value
        elif self.type is not None and self.type not in BUILTIN_TYPES:
            context = None                                       # a context of a program, perhaps without a hash
        return hash((self.type, context, tuple(self._children)))

    def __repr__(self, indent: int = 0) -> str:
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
_FORMER = ("`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and "
           "treespec.is_leaf()` instead.")


@dataclass(init=False, frozen=True, eq=False, repr=False, slots=True)
class LeafSpec(TreeSpec):
    """The spec of a leaf. A new spec and a derived class warn: use `treespec_leaf()`."""

    type: Any = field(default=None, init=False)
    _context: Context = field(default=None, init=False)
    _children: list[TreeSpec] = field(default_factory=list, init=False)
    __deprecated__: ClassVar[str] = _FORMER

    def __new__(cls, *args: Any, **options: Any) -> LeafSpec:
        if cls is LeafSpec:
            warn(_FORMER, FutureWarning)
        return object.__new__(cls)

    def __init__(self) -> None:
        TreeSpec.__init__(self, None, None, [])

    def __init_subclass__(cls) -> None:
        warn(_FORMER, FutureWarning)

    def __repr__(self, indent: int = 0) -> str:
        return "*"


LEAF: LeafSpec = object.__new__(LeafSpec)
LeafSpec.__init__(LEAF)
