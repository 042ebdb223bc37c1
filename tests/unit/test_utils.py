"""The tools around a computation: pytrees."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

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
