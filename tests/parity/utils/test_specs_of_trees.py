"""The specs of pytrees: their classes, equality, copies, texts and errors, here and in PyTorch."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings
from typing import Any

import pytest
import torch.utils._pytree as theirs

import retrograd.utils._pytree as ours

EXPRESSIONS = """
type(P.LeafSpec).__name__, P.LeafSpec.__name__, P.LeafSpec.__slots__, P.TreeSpec.__slots__, P.LeafSpec.__deprecated__
P.LeafSpec()
P.LeafSpec(1)
isinstance(P.LeafSpec(), P.LeafSpec)
isinstance(leaf, P.LeafSpec), isinstance(spec, P.LeafSpec), isinstance(spec.child(0), P.LeafSpec)
issubclass(P.LeafSpec, P.TreeSpec), type(leaf).__name__, [each.__name__ for each in P.LeafSpec.__mro__]
P.LeafSpec() == leaf, P.LeafSpec() is leaf, hash(P.LeafSpec()) == hash(leaf)
type("Derived", (P.LeafSpec,), {}).__name__
P.TreeSpec(None, None, []) == leaf
repr(P.TreeSpec(None, None, []))
P.TreeSpec(None, 1, [])
P.TreeSpec(None, None, [leaf])
P.TreeSpec(list, None)
P.TreeSpec(list, None, [leaf]) == P.tree_structure([3])
P.TreeSpec(type=list, context=None, children_specs=[])
setattr(leaf, "type", 3)
setattr(spec, "num_leaves", 3)
setattr(spec, "other", 3)
delattr(spec, "type")
vars(spec)
copy.deepcopy(spec) == spec
copy.copy(leaf), copy.deepcopy(leaf)
pickle.loads(pickle.dumps(spec)) == spec
pickle.loads(pickle.dumps(leaf)) == leaf
dataclasses.is_dataclass(spec), [each.name for each in dataclasses.fields(spec)]
dataclasses.replace(leaf)
leaf.unflatten([3]), leaf.context, leaf.children(), leaf.is_leaf(), spec.is_leaf(), P.tree_structure([]).is_leaf()
leaf.unflatten([3, 4])
leaf.children_specs
spec == 3, spec != 3, spec == P.tree_structure((1, {"a": 2}))
spec < spec
P.tree_structure({"a": 1, "b": 2}) == P.tree_structure({"b": 2, "a": 1})
hash(P.tree_structure({"a": 1})) == hash(P.tree_structure({"a": 2}))
P.treespec_tuple([1])
P.treespec_tuple([leaf, spec])
P.treespec_dict({"a": 1})
P.treespec_dict(a=leaf, b=spec)
P.treespec_loads(P.treespec_dumps(spec)).child(0) is leaf
P.tree_map(lambda each: type(each).__name__, spec), P.tree_leaves(spec)
"""


def outcome(package: Any, expression: str) -> list[str]:
    names = {"P": package, "leaf": package.treespec_leaf(), "spec": package.tree_structure([1, {"a": 2}]),
             "copy": copy, "dataclasses": dataclasses, "pickle": pickle}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(eval(expression, names))
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
    return [found, *[f"{each.category.__name__}: {each.message}" for each in caught]]


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().split("\n"))
def test_specs(expression: str) -> None:
    assert outcome(ours, expression) == outcome(theirs, expression)
