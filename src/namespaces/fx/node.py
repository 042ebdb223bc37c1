"""torch.fx.node: the steps of a traced program. retrograd traces nothing, so there are no instances."""

from __future__ import annotations

from typing import Any

from ..foundations.names import refused, refused_class

__all__ = ["Node", "has_side_effect", "map_arg"]

Node = refused_class("torch.fx.Node")
map_arg = refused("torch.fx.node.map_arg")


def has_side_effect(fn: Any) -> Any:
    """The function as it is."""
    return fn
