"""Pictures of the gradient graph: as a text tree, as DOT, as SVG; and a page in which one walks through a pass.

Drawing reads the graph and changes nothing.
"""

from typing import TYPE_CHECKING

from ..names import missing
from .drawing import dot, svg, tree

if TYPE_CHECKING:
    # imported when a program first names them
    from .exploring import explore as explore
    from .notes import recording as recording

__all__ = ["dot", "explore", "recording", "svg", "tree"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, inside={
        "explore": "viz.exploring:explore", "recording": "viz.notes:recording"})
