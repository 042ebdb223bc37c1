"""A program that takes pytrees apart in every way, and prints what it finds, to compare retrograd with PyTorch."""

import collections
import dataclasses
import time
import warnings
from typing import NamedTuple

import torch
import torch.utils._pytree as pytree
from torch.utils._pytree import tree_flatten, tree_map, tree_structure

warnings.simplefilter("ignore")


class Point(NamedTuple):
    x: object
    y: object


class Box:
    def __init__(self, inside, label):
        self.inside, self.label = inside, label

    def __repr__(self):
        return f"Box({self.inside}, {self.label})"


@dataclasses.dataclass
class Model:
    weight: int
    rest: object
    bias: int = 3


@dataclasses.dataclass(frozen=True)
class Constant:
    value: int


class WithoutHash:
    def __eq__(self, other):
        return True


def show(function, *args, **options):
    """Print the result of a call, or the error."""
    try:
        print(function(*args, **options))
    except Exception as error:
        print(type(error).__name__, error)


TREE = {
    "b": [1, 2.0, (None, 3)], "a": Point(4, collections.OrderedDict(z=1)), "c": collections.deque([1], 3),
    "d": collections.defaultdict(list, {1: 2}), "e": torch.return_types.max([torch.tensor(1), torch.tensor(2)]),
    "f": torch.Size([3, 4])}
PLAIN = {key: TREE[key] for key in "bcdf"} | {"o": collections.OrderedDict(a=1)}

leaves, spec = tree_flatten(TREE)
print(leaves, spec, spec.num_leaves, spec.num_nodes, spec.num_children, spec.type, spec.context)
print(pytree.tree_unflatten(leaves, spec))
for path, leaf in pytree.tree_flatten_with_path(TREE)[0]:
    print(path, pytree.keystr(path), leaf, pytree.key_get(TREE, path))
show(pytree.tree_unflatten, [1], tree_structure([1, 2]))
show(pytree.tree_unflatten, 1, spec)
show(pytree.tree_unflatten, [1], 3)

print("several trees")
for tree, rest in [
        ([1, 2], [3]), ([1, 2], (3, 4)), ({"a": 1}, {"b": 4}), ({"a": 1, "c": 2}, {"c": 4, "a": 5}),
        ({"a": 1, "c": 2}, collections.OrderedDict([("c", 4), ("a", 5)])), ([1], [[3, 4]]), (1, [1]),
        (collections.deque([1]), collections.deque([3], 4)), (collections.defaultdict(list, {1: 2}), {1: 5}),
        ([1, [2, 3]], [1, 2]), (Point(1, 2), Point(3, (4, 5)))]:
    show(tree_map, lambda *both: both, tree, rest)
    show(tree_structure(tree).flatten_up_to, rest)
    show(pytree._broadcast_to_and_flatten, rest, tree_structure(tree))
show(pytree.tree_map_with_path, lambda *all: all, {"a": [1]}, {"a": [2]})
show(pytree.tree_map_, lambda x: None, [1])

print("some leaves")
for chosen in [int, (int, float), int | float, lambda x: x == 1, 3]:
    show(pytree.tree_map_only, chosen, lambda x: x + 1, [1, 2.0, "a"])
show(pytree.tree_any, lambda x: x > 1, [1, 2])
show(pytree.tree_all, lambda x: x > 1, [1, 2])
show(pytree.tree_all_only, int, lambda x: x > 0, [1, "a"])
show(pytree.tree_any_only, int, lambda x: x > 3, [1, "a"])
show(pytree.tree_leaves, [1, [2]], is_leaf=lambda x: x == [2])
show(pytree.arg_tree_leaves, 1, [2], a=3)
show(lambda: [*pytree.tree_iter((1, (2,)))])
for value in [1, [], None, TREE["e"]]:
    show(pytree.tree_is_leaf, value)
for value in [Point, Point(1, 2), tuple, TREE["e"], type(TREE["e"]), time.localtime(), 3]:
    print(pytree.is_namedtuple(value), pytree.is_namedtuple_class(value), pytree.is_namedtuple_instance(value),
          pytree.is_structseq(value), pytree.is_structseq_class(value), pytree.is_structseq_instance(value))

print("specs")
show(pytree.treespec_dumps, spec)
dumped = pytree.treespec_dumps(tree_structure(PLAIN))
print(dumped, pytree.treespec_loads(dumped) == tree_structure(PLAIN))
show(pytree.treespec_dumps, spec, 3)
for text in ["x", "[1]", "[2, {}]", '[1, {"type": "x.y", "context": null, "children_spec": []}]']:
    show(pytree.treespec_loads, text)
show(pytree.treespec_pprint, tree_structure(PLAIN))
for tree in [1, None, [], {}, {3: 1, "a": 2}]:
    show(tree_structure, tree)
print(tree_structure([]) == tree_structure(()), tree_structure([1]) == tree_structure([2]), tree_structure([1]) == 3)
print(len({tree_structure([1]), tree_structure([2]), tree_structure((1,)), tree_structure({"a": 1})}))
print(spec.children()[0], spec.child(1), spec.is_leaf(), pytree.treespec_leaf().is_leaf(), pytree.treespec_leaf())
print(pytree.treespec_tuple([pytree.treespec_leaf()]), pytree.treespec_dict(a=pytree.treespec_leaf()))

print("types of one's own")
pytree.register_pytree_node(Box, lambda box: ([box.inside], box.label), lambda children, label: Box(*children, label))
show(tree_map, lambda x: x * 2, [Box(1, "q")])
show(tree_structure, Box(1, 2))
show(tree_structure(Box(1, 2)).flatten_up_to, Box(1, 3))
show(tree_structure(Box(1, 2)).flatten_up_to, [1])
show(pytree.tree_flatten_with_path, Box(1, 2))
show(pytree.treespec_dumps, tree_structure(Box(1, 2)))
show(pytree.register_pytree_node, Box, list, list)
show(pytree.register_pytree_node, set, list, list, to_dumpable_context=str)
pytree.register_dataclass(Model)
show(tree_flatten, Model(1, [2], 5))
show(tree_flatten, Model(1, None))
show(tree_map, lambda x: x + 1, Model(1, [2], 5))
show(pytree.tree_flatten_with_path, Model(1, [2], 5))
show(pytree.register_dataclass, Box)
show(pytree.register_dataclass, dataclasses.make_dataclass("Other", ["a", "b"]), field_names=["a"])
show(pytree.register_dataclass, dataclasses.make_dataclass("Other", ["a"]), field_names=["a", "q"])
pytree.register_constant(Constant)
show(tree_flatten, [Constant(1), 2])
show(tree_structure(Constant(1)).flatten_up_to, Constant(2))
show(pytree.is_constant_class, Constant)
show(pytree.register_constant, Box)
show(pytree.register_constant, WithoutHash)
pytree._register_namedtuple(Point, serialized_type_name="point")
print(pytree.treespec_loads(pytree.treespec_dumps(tree_structure(Point(1, [2])))))
print(pytree.SequenceKey(1), pytree.MappingKey("a"), pytree.GetAttrKey("bias"))
print(pytree.GetAttrKey("bias").get(Model(1, 2)))
