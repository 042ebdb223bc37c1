"""torch.fx.graph: the graph of a traced program. retrograd traces nothing, so there are no instances."""

from ..foundations.names import refused_class

__all__ = ["CodeGen", "Graph"]

Graph = refused_class("torch.fx.Graph")
CodeGen = refused_class("torch.fx.CodeGen")
