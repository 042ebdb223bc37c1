"""torch.fx.proxy: the values in a traced program. retrograd traces nothing, so there are no instances."""

from ..foundations.names import refused_class

__all__ = ["Proxy"]

Proxy = refused_class("torch.fx.Proxy")
