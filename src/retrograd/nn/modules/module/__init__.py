"""torch.nn.modules.module: the base class of modules, and the hooks on all of them."""

from . import hooks
from .base import Module as Module
from .hooks import *

__all__ = ["Module", *hooks.__all__]
