"""torch.fx.graph_module: the module made of a traced program. retrograd traces nothing, so there are no instances."""

from ..foundations.names import refused_class
from ..nn.modules.module import Module

__all__ = ["GraphModule"]

GraphModule = refused_class("torch.fx.GraphModule", Module)
