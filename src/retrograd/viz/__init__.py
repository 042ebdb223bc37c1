"""Pictures of the gradient graph: as a text tree, as DOT, as SVG."""

from .dot import dot, svg
from .tree import tree

__all__ = ["dot", "svg", "tree"]
