"""torch.fx.interpreter: running a traced program. retrograd traces nothing, so there are no instances."""

from ..foundations.names import refused_class

__all__ = ["Interpreter", "Transformer"]

Interpreter = refused_class("torch.fx.Interpreter")
Transformer = refused_class("torch.fx.Transformer")
