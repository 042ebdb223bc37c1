"""The kernels whose loops are written by hand, since no statement of an operator says what they compute."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ...kernels.images import served_convolution
from ...kernels.indexing import picking as picking_kernels
from ...kernels.linalg import served_products
from ...kernels.networks.adding_rows import add_rows, chosen_rows_added
from . import adding, convolving, convolving_weight, multiplying, picking


class Written(NamedTuple):
    """The text of a kernel's module for a dtype, and what calls the function `run`: of its address and its code."""

    text_of: Callable[[Any], str]
    called: Callable[[int, Any], Any]


WRITTEN: dict[Any, Written] = {
    add_rows: Written(adding.text_of, adding.AddingRows),
    chosen_rows_added: Written(partial(adding.text_of, chooses=True), adding.AddingRows),
    picking_kernels.picked: Written(picking.text_of, picking.Picking),
    picking_kernels.added: Written(partial(picking.text_of, adds=True), picking.Picking),
    served_products.product: Written(multiplying.text_of, multiplying.Multiplying),
    served_convolution.gathered: Written(convolving.text_of, convolving.Convolving),
    served_convolution.weight_gradient: Written(convolving_weight.text_of, convolving_weight.ConvolvingWeight),
}
