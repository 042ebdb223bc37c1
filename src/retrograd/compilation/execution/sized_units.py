"""What an executor needs to write code for all sizes, besides the program and its units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..passes.fusing import Unit
from ..program.forms import Points
from ..program.layouts import Layout
from ..program.lines import Value


class SizedUnits(NamedTuple):
    """How a program that is planned for the first of several sizes depends on sizes.

    `layouts` has the geometry of the values. By the identity of a unit, `large` says whether it runs as large ones do,
    and `planned` has what it is for each of the sizes, with the values then.
    """

    points: Points
    layouts: Mapping[int, Layout]
    large: Mapping[int, bool]
    planned: Mapping[int, list[tuple[Unit, list[Value]]]]
