"""Pictures of the gradient graph: as a text tree, as DOT, as SVG; and a page in which one walks through a pass.

Drawing reads the graph and changes nothing.
"""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
if TYPE_CHECKING:
    # imported when a program first names them
    from .drawing import dot as dot, tree as tree
    from .exploring import explore as explore
    from .notes import recording as recording
    from .pictures import Picture as Picture, graph as graph, svg as svg
    from .terminal import progress as progress

__all__ = ["Picture", "dot", "explore", "graph", "progress", "recording", "svg", "tree"]

if not TYPE_CHECKING:
    __getattr__, _ = late(__name__, __all__, inside({
        "drawing": "dot tree", "exploring": "explore", "notes": "recording", "pictures": "Picture graph svg",
        "terminal": "progress"}, __name__))

    def __dir__() -> list[str]:
        return [*__all__]
