"""torch.fx: names that programs import from PyTorch's tracer of programs. retrograd traces nothing.

The classes have no instances, so `isinstance(x, torch.fx.Proxy)` is False for every value. `wrap` changes nothing.
"""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
from . import graph, graph_module, interpreter, node, proxy
from ._symbolic_trace import Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy

__all__ = ["CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "graph",
           "graph_module", "has_side_effect", "interpreter", "map_arg", "node", "proxy", "symbolic_trace", "wrap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "experimental"}, __name__))
