"""The rule of each operator that has one. An operator with dims needs none: the names of its options say them."""

from __future__ import annotations

from .dims import DIMENSIONS, by_dims
from .images import IMAGES
from .networks import NETWORKS
from .operands import Rule
from .places import PLACES
from .products import PRODUCTS
from .unknown import UNKNOWN

RULES: dict[str, Rule] = {**DIMENSIONS, **PRODUCTS, **PLACES, **NETWORKS, **IMAGES, **UNKNOWN}


def rule_of(name: str) -> Rule:
    """The rule for operators of this name."""
    return RULES.get(name, by_dims)
