"""torch.fx: traces a program into a graph of its calls, changes the graph, and makes Python of it.

`symbolic_trace` runs a module or a function on values that stand for tensors.
"""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
from . import graph, graph_module, immutable_collections, interpreter, node, proxy, subgraph_rewriter
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = ["PH", "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta", "Tracer",
           "Transformer", "graph", "graph_module", "has_side_effect", "immutable_collections", "interpreter", "map_arg",
           "node", "proxy", "replace_pattern", "subgraph_rewriter", "symbolic_trace", "wrap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "experimental passes"}, __name__))
