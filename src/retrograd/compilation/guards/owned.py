"""What a guard need not ask of the dictionaries of modules and optimizers, since their own code asks less of them."""

from __future__ import annotations

from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer
from ..reach.items import Item


def by_key(item: Item) -> bool:
    """Whether an item is a dict of an optimizer: its state or its options, in which the order of keys tells nothing."""
    while item.parent is not None and not item.parent.fixed and item.step.kind != "fixed":
        item = item.parent
    return item.parent is not None and isinstance(item.parent.value, Optimizer)


def is_bare(item: Item) -> bool:
    """Whether an item is an empty dictionary of hooks or members. Code asks only whether such a dictionary is empty."""
    return item.facts == [] and item.parent is not None and item.parent.fixed and isinstance(
        item.parent.value, (Module, Optimizer)) and item.step.kind == "attribute" and item.step.key[:1] == "_"
