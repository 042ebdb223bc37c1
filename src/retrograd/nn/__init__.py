"""torch.nn: modules, layers, losses, and what goes with them. A name is imported when a program first uses it."""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
from . import modules as modules

if TYPE_CHECKING:
    from . import (
        attention as attention, common_types as common_types, functional as functional, grad as grad, init as init,
        parallel as parallel, parameter as parameter, utils as utils)
    from .modules import *
    from .modules.layer import factory_kwargs as factory_kwargs
    from .parallel import DataParallel as DataParallel
    from .parameter import (
        Buffer as Buffer, Parameter as Parameter, UninitializedBuffer as UninitializedBuffer,
        UninitializedParameter as UninitializedParameter)
else:                                                        # a type checker reads the imports above
    _OFFERED = {
        "": "attention common_types functional grad init modules parallel parameter utils",
        "modules.layer": "factory_kwargs",
        "parallel": "DataParallel",
        "parameter": "Buffer Parameter UninitializedBuffer UninitializedParameter",
    }
    __all__ = [*(name for names in _OFFERED.values() for name in names.split()), *modules.__all__]
    __getattr__, __dir__ = late(__name__, __all__, {
        **inside(_OFFERED, __name__), **inside({"": "_reduction borrowed"}, __name__),
        **inside(modules.CLASSES, modules.__name__)})
