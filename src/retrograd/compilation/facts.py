"""What the compiler knows of single operators, as tables of the index, for `retrograd.explain`.

The passes read the dictionaries of their own modules: they look up the operator of a line, and a row of the index would
also hold for the form in place. Only this module needs all of these dictionaries at once.
"""

from __future__ import annotations

from ..ops.tables import table
from .native.lowering import FAMILIES
from .native.walks import BACKWARD, FORWARD
from .passes.attention import ATTENTION
from .passes.effects import SAFE
from .passes.expansions import EXPANSIONS
from .passes.fusing import ALSO_ELEMENTWISE, REDUCTIONS
from .passes.joins import JOINS
from .passes.losses import LOSSES
from .passes.networks import NETWORKS
from .passes.products import PRODUCTS
from .passes.statistics import STATISTICS

APART = (
    table("A compiled plan takes it apart: {}", EXPANSIONS),
    table("A plan in machine code takes it apart: {}", STATISTICS, LOSSES, NETWORKS, ATTENTION, JOINS,
          PRODUCTS))
LOOPS = (
    table("Machine code has a formula for it", *[dict.fromkeys(family.FORMULAS, True) for family in FAMILIES]),
    table("Machine code walks its steps", dict.fromkeys(FORWARD, True), dict.fromkeys(BACKWARD, True)),
    table("A loop of a compiled plan may hold it", dict.fromkeys(ALSO_ELEMENTWISE, True)),
    table("A loop of a compiled plan may end with it", dict.fromkeys(REDUCTIONS, True)),
    table("A traced call of it may wait, since it takes all numbers", dict.fromkeys(SAFE, True)))
