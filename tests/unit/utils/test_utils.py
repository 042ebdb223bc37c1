"""The tools around a computation: pytrees."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given, strategies as st

from retrograd.utils import _pytree as pytree

leaves = st.none() | st.integers() | st.text(max_size=3)
trees = st.recursive(leaves, lambda inside: st.lists(inside, max_size=3) | st.tuples(inside, inside) | st.dictionaries(
    st.text(max_size=2), inside, max_size=3) | st.dictionaries(st.integers(), inside, max_size=3).map(OrderedDict))


@given(trees)
def test_a_tree_comes_back_from_its_leaves_and_its_spec(tree: Any) -> None:
    found, spec = pytree.tree_flatten(tree)
    back = spec.unflatten(found)
    assert back == tree
    assert type(back) is type(tree)
    assert spec.num_leaves == len(found)
    assert spec.flatten_up_to(tree) == found
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec == pytree.tree_structure(back)


@given(trees)
def test_each_path_leads_to_its_leaf(tree: Any) -> None:
    found = pytree.tree_leaves_with_path(tree)
    assert [leaf for _, leaf in found] == pytree.tree_leaves(tree)
    assert all(pytree.key_get(tree, path) is leaf for path, leaf in found)


@given(trees, st.integers())
def test_a_leaf_stands_for_all_leaves_of_a_spec(tree: Any, leaf: int) -> None:
    spec = pytree.tree_structure(tree)
    assert pytree._broadcast_to_and_flatten(leaf, spec) == [leaf] * spec.num_leaves


def test_a_type_like_a_list_is_registered_by_the_functions_for_lists() -> None:
    class Stack(list[int]):
        pass

    pytree.register_pytree_node(Stack, pytree._list_flatten, pytree._list_unflatten,
                                flatten_with_keys_fn=pytree._list_flatten_with_keys)
    found, spec = pytree.tree_flatten(Stack([3, 4]))
    assert (found, type(spec.unflatten(found))) == ([3, 4], list)
    assert pytree.tree_leaves_with_path(Stack([3])) == [((pytree.SequenceKey(0),), 3)]
    del pytree.SUPPORTED_NODES[Stack]


def test_the_spec_of_a_leaf_has_a_class_and_cannot_be_changed() -> None:
    leaf = pytree.tree_structure(3)
    assert isinstance(leaf, pytree.LeafSpec)
    assert not isinstance(pytree.tree_structure([3]), pytree.LeafSpec)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'type'"):
        leaf.type = list                                   # type: ignore[misc]
    with pytest.warns(FutureWarning, match=r"LeafSpec\)` is deprecated"):
        assert pytree.LeafSpec() == leaf
