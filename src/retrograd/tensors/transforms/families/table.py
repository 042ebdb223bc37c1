"""The rule of each operator that has one. An operator with dims needs none: the names of its options say them."""

from __future__ import annotations

from functools import cache

from ....ops.framework import Op
from ....ops.tables import table
from .dims import DIMENSIONS, by_dims
from .images import IMAGES
from .networks import NETWORKS
from .operands import Rule, one_by_one
from .places import PLACES
from .products import PRODUCTS
from .sequences import SEQUENCES
from .unknown import UNKNOWN

RULES = table("vmap computes a batch by {}", DIMENSIONS, PRODUCTS, PLACES, NETWORKS,
              SEQUENCES, IMAGES, UNKNOWN)


@cache
def rule_of(op: Op) -> Rule:
    """The rule for an operator. An operator of a program is called for one sample after another."""
    return RULES.get(op) or (by_dims if op.known else one_by_one)
