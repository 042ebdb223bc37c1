"""torch.fx.passes: what finds facts about a graph, and what makes other graphs of it."""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from . import fake_tensor_prop, shape_prop, split_module

__all__ = ["fake_tensor_prop", "shape_prop", "split_module"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
