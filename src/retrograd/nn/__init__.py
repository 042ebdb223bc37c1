"""torch.nn: modules, layers, losses, and what goes with them."""

from typing import TYPE_CHECKING

from . import (
    functional as functional, init as init, modules as modules, parameter as parameter, utils as utils)
from .modules import *
from .parameter import (
    Buffer as Buffer, Parameter as Parameter, UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter)

if not TYPE_CHECKING:                                    # a type checker reads the imports above
    __all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "functional", "init", "modules",
               "parameter", "utils", *modules.__all__]
