"""Pictures of the gradient graph: as a text tree, as DOT, as SVG.

Nothing else in the package knows of them, and they only read.
"""

from .dot import dot, svg
from .tree import tree

__all__ = ["dot", "svg", "tree"]
