"""The kernels whose loops are written by hand, since no statement of an operator says what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...kernels.images import served_convolution
from ...kernels.networks.adding_rows import add_rows
from . import adding, convolving, convolving_weight


class Written(NamedTuple):
    """The text of a kernel's module for a dtype, and what calls the function `run`: of its address and its code."""

    text_of: Callable[[Any], str]
    called: Callable[[int, Any], Any]


WRITTEN: dict[Any, Written] = {
    add_rows: Written(adding.text_of, adding.AddingRows),
    served_convolution.gathered: Written(convolving.text_of, convolving.Convolving),
    served_convolution.weight_gradient: Written(convolving_weight.text_of, convolving_weight.ConvolvingWeight),
}
