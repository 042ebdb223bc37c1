"""torch.utils._pytree: nested containers, seen as a list of leaves and a spec that says how they are nested.

Lists, tuples, named tuples, dictionaries, deques, and the types that a program registers are containers. Everything
else is a leaf, None included. `_pytree_nodes` has the kinds of containers, and `_pytree_spec` has the spec.
"""

from __future__ import annotations

import json
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, cast

from ..foundations.errors import warn
from ._pytree_nodes import (
    BUILTIN_TYPES,
    CONSTANT_NODES,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    ConstantNode,
    Context,
    DumpableContext,
    FlattenFn,
    FlattenWithKeysFn,
    FromDumpableContextFn,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    MappingKey,
    NodeDef,
    PyTree,
    SequenceKey,
    ToDumpableContextFn,
    UnflattenFn,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _list_flatten,
    _list_flatten_with_keys,
    _list_unflatten,
    _namedtuple_flatten,
    _namedtuple_flatten_with_keys,
    _namedtuple_unflatten,
    _register_namedtuple,
    _tuple_flatten,
    _tuple_flatten_with_keys,
    _tuple_unflatten,
    dump_context,
    is_constant_class,
    is_namedtuple_class,
    is_structseq_class,
    load_context,
    node_type,
    register_constant,
    register_dataclass,
    register_pytree_node,
)
from ._pytree_spec import LEAF, LeafSpec, PyTreeSpec, TreeSpec

__all__ = [
    "BUILTIN_TYPES", "CONSTANT_NODES", "STANDARD_DICT_TYPES", "SUPPORTED_NODES", "ConstantNode", "Context",
    "DumpableContext", "FlattenFn", "FlattenWithKeysFn", "FromDumpableContextFn", "GetAttrKey", "KeyEntry", "KeyPath",
    "LeafSpec", "MappingKey", "NodeDef", "PyTree", "PyTreeSpec", "SequenceKey", "ToDumpableContextFn", "TreeSpec",
    "UnflattenFn", "_broadcast_to_and_flatten", "_dict_flatten", "_dict_flatten_with_keys", "_dict_unflatten",
    "_get_node_type", "_is_leaf", "_list_flatten", "_list_flatten_with_keys", "_list_unflatten",
    "_namedtuple_flatten", "_namedtuple_flatten_with_keys", "_namedtuple_unflatten", "_tuple_flatten",
    "_tuple_flatten_with_keys", "_tuple_unflatten", "_register_namedtuple", "_register_pytree_node",
    "arg_tree_leaves", "is_constant_class", "is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance",
    "is_structseq", "is_structseq_class", "is_structseq_instance", "key_get", "keystr", "map_only",
    "register_constant", "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any",
    "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves",
    "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path",
    "tree_structure", "tree_unflatten", "treespec_dict", "treespec_dumps", "treespec_leaf", "treespec_loads",
    "treespec_pprint", "treespec_tuple",
]

_PROTOCOL = 1
IsLeaf = Callable[[PyTree], bool] | None
_get_node_type = node_type


def _register_pytree_node(cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, **options: Any) -> None:
    """The former name of `register_pytree_node`. It warns."""
    warn("`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
         "`torch.utils._pytree.register_pytree_node` instead.", FutureWarning)
    if SUPPORTED_NODES.pop(cls, None) is not None:
        warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.", UserWarning)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


# Taking apart, and putting together


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a value is a leaf: no container, or a value for which the function `is_leaf` gives True."""
    return (is_leaf is not None and is_leaf(tree)) or node_type(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf


def _flattened(trees: Iterable[PyTree], leaves: list[Any], is_leaf: IsLeaf) -> list[TreeSpec]:
    """The specs of trees, whose leaves are added to `leaves`."""
    specs: list[TreeSpec] = []
    for tree in trees:
        kind = type(tree)
        if kind not in SUPPORTED_NODES and isinstance(tree, tuple):
            kind = node_type(tree)
        if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
            leaves.append(tree)
            specs.append(LEAF)
        else:
            children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
            specs.append(TreeSpec(kind, context, _flattened(children, leaves, is_leaf)))
    return specs


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree in order, and the spec of the tree.

    >>> tree_flatten([1, (2, None)])
    ([1, 2, None], TreeSpec(list, None, [*,
      TreeSpec(tuple, None, [*,
        *])]))
    """
    leaves: list[Any] = []
    spec, = _flattened((tree,), leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """A tree of the form `treespec` with these leaves. Raises ValueError for another number of leaves."""
    return _spec(treespec).unflatten(leaves)


def _spec(treespec: TreeSpec) -> TreeSpec:
    if not isinstance(treespec, TreeSpec):
        raise TypeError("Expected `treespec` to be an instance of PyTreeSpec but got item of type "
                        f"{type(treespec)}.")
    return treespec


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one after the other."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
    else:
        for child in SUPPORTED_NODES[node_type(tree)].flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, as a list."""
    return [*tree_iter(tree, is_leaf)]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments."""
    return tree_leaves((args, kwargs))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The spec of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def _with_paths(tree: PyTree, path: KeyPath, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    flatten = SUPPORTED_NODES[node_type(tree)].flatten_with_keys_fn
    if flatten is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node_type(tree)}. Please pass a "
                         "flatten_with_keys_fn argument to register_pytree_node.")
    for key, child in flatten(tree)[0]:
        yield from _with_paths(child, (*path, key), is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the keys that lead to the leaf."""
    return [*_with_paths(tree, (), is_leaf)]


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """What `tree_leaves_with_path` and `tree_structure` give."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def keystr(kp: KeyPath) -> str:
    """The path as Python would write it after the name of the tree.

    >>> [keystr(path) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    ["['a'][0]", "['a'][1]"]
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """The part of a tree to which a path leads."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """One leaf of `tree` for each leaf of `treespec`. A leaf of `tree` stands for all below. None without a fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * _spec(treespec).num_leaves
    try:
        treespec.matched(tree)
    except ValueError:
        return None
    children = SUPPORTED_NODES[node_type(tree)].flatten_fn(tree)[0]          # dictionaries keep their own order here
    result: list[Any] = []
    for child, spec in zip(children, treespec.children(), strict=True):
        leaves = _broadcast_to_and_flatten(child, spec, is_leaf)
        if leaves is None:
            return None
        result += leaves
    return result


# Functions of all leaves


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """A tree of the same form, with the function of each leaf, and of the parts of `rests` at the same places.

    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
    {'a': 11, 'b': (22,)}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten([*map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests))])


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call the function as `tree_map` does, and return the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)), maxlen=0)
    return tree


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` with a function whose first argument is the path of the leaf."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [path for path, _ in found], [leaf for _, leaf in found]
    return spec.unflatten([*map(func, paths, leaves, *(spec.flatten_up_to(rest) for rest in rests))])


def _condition(type_or_types_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_types_or_pred, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, type_or_types_or_pred)
    if callable(type_or_types_or_pred):
        return cast("Callable[[Any], bool]", type_or_types_or_pred)
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator. The function is called for values of these types, and other values are returned as they are."""
    applies = _condition(type_or_types_or_pred)

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return wraps(func)(lambda x: func(x) if applies(x) else x)

    return decorate


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree,
                  is_leaf: IsLeaf = None) -> PyTree:
    """`tree_map` for the leaves of these types, or for which a function gives True.

    >>> tree_map_only(int, lambda x: -x, [1, 2.0, "a"])
    [-1, 2.0, 'a']
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree,
                   is_leaf: IsLeaf = None) -> PyTree:
    """Call the function as `tree_map_only` does, and return the tree itself."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a condition holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a condition holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a condition holds for all leaves of these types."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a condition holds for some leaf of these types."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


# Specs


def treespec_leaf() -> LeafSpec:
    """The spec of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The spec of a tuple of trees with these specs."""
    specs = [*iterable]
    if not all(isinstance(spec, TreeSpec) for spec in specs):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {specs!r}.")
    return TreeSpec(tuple, None, specs)


def treespec_dict(mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /,
                  **kwargs: TreeSpec) -> TreeSpec:
    """The spec of a dictionary of trees with these specs."""
    specs = dict(mapping, **kwargs)
    if not all(isinstance(spec, TreeSpec) for spec in specs.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {specs!r}.")
    return TreeSpec(dict, [*specs], [*specs.values()])


def treespec_pprint(treespec: TreeSpec) -> str:
    """The spec as a tree with an asterisk for each leaf.

    >>> treespec_pprint(tree_structure({"a": [1, 2]}))
    "{'a': [*, *]}"
    """
    class Asterisk:
        def __repr__(self) -> str:
            return "*"

    return repr(tree_unflatten([Asterisk() for _ in range(treespec.num_leaves)], treespec))


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The spec as JSON. Raises NotImplementedError for types that were registered without a name."""
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return json.dumps((_PROTOCOL, _dumped(_spec(treespec))))


def _dumped(spec: TreeSpec) -> dict[str, Any]:
    name, context = (None, None) if spec.is_leaf() else dump_context(spec.type, spec.context)
    return {"type": name, "context": context, "children_spec": [_dumped(child) for child in spec.children()]}


def treespec_loads(serialized: str) -> TreeSpec:
    """The spec that `treespec_dumps` wrote. Raises ValueError for an unknown protocol."""
    protocol, spec = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return _loaded(spec)


def _loaded(spec: dict[str, Any]) -> TreeSpec:
    if spec["type"] is None:
        return LEAF
    return TreeSpec(*load_context(spec["type"], spec["context"]), [_loaded(child) for child in spec["children_spec"]])


def is_namedtuple(obj: Any) -> bool:
    """Whether this is a named tuple, or the class of named tuples."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether this is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether this is a structured sequence of C or of `torch.return_types`, or the class of such sequences."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Whether this is a structured sequence of C, or of `torch.return_types`."""
    return is_structseq_class(type(obj))
