"""torch.nn: modules, layers, losses, and what goes with them."""

from typing import TYPE_CHECKING

from ..names import missing
from . import (
    functional as functional, init as init, modules as modules, parameter as parameter, utils as utils)
from .modules import *
from .modules.layer import factory_kwargs as factory_kwargs
from .parameter import (
    Buffer as Buffer, Parameter as Parameter, UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter)

if TYPE_CHECKING:
    from . import (                                          # imported when a program first names them
        attention as attention, common_types as common_types, grad as grad, parallel as parallel)
    from .parallel import DataParallel as DataParallel
else:                                                        # a type checker reads the imports above
    __all__ = ["Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter",
               "attention", "common_types", "factory_kwargs", "functional", "grad", "init", "modules",
               "parallel", "parameter", "utils", *modules.__all__]
    __getattr__ = missing(__name__, __all__, modules=["_reduction", "attention", "common_types", "grad", "parallel"],
                          inside={"DataParallel": "nn.parallel:DataParallel"})
