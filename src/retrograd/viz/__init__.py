"""Pictures of the gradient graph: as a text tree, as DOT, as SVG.

Drawing reads the graph and changes nothing.
"""

from .drawing import dot, svg, tree

__all__ = ["dot", "svg", "tree"]
